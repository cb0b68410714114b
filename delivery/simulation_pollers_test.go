package delivery_test

import (
	"context"
	"encoding/json"
	"slices"

	"teamdata/store"
)

// poller follows an org's audit log from page to page.
type poller struct {
	org    *org
	cursor store.Cursor
	seen   []string // ids
	busy   bool
}

// poll lets one of an org's pollers read what is new.
func (w *world) poll(o *org) {
	r, limit, s := pick(w.Rand, o.readers), 1+w.IntN(20), w.store
	w.client(func(ctx context.Context) {
		w.mu.Lock()
		busy := r.busy
		r.busy = true
		w.mu.Unlock()
		if !busy {
			w.allow("a poller", w.read(ctx, s, r, limit))
		}
	})
}

// read reads to the end of the log, and compares what it sees with what was
// committed.
func (w *world) read(ctx context.Context, s store.Store, r *poller, limit int) error {
	defer func() {
		w.mu.Lock()
		r.busy = false
		w.mu.Unlock()
	}()
	for more := true; more; {
		var page store.Page
		err := s.View(ctx, func(tx store.Tx) (err error) {
			page, err = tx.AuditPage(r.org.id, r.cursor, limit, nil)
			return err
		})
		if err != nil {
			return err
		}
		if more = page.More; page.Count > 0 {
			r.cursor, _ = store.ParseCursor(page.Last.String())
		}
		w.sees(r, page.Items)
	}
	return nil
}

func (w *world) sees(r *poller, items []byte) {
	var entries []struct{ ID string }
	err := json.Unmarshal([]byte("["+string(items)+"]"), &entries)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.breaksLocked(pages, "a page can't be read: %v", err)
	}
	for _, e := range entries {
		n := len(r.seen)
		if n >= len(r.org.audit) || r.org.audit[n] != e.ID {
			w.breaksLocked(pages, "a poller of %s sees %s as entry %d; committed as number %d of %d",
				r.org.id, e.ID, n+1, slices.Index(r.org.audit, e.ID)+1, len(r.org.audit))
			return
		}
		r.seen = append(r.seen, e.ID)
	}
}

// readAll lets every poller read to the end, while nobody writes. They have
// seen all then.
func (w *world) readAll() {
	for _, o := range w.orgs {
		for _, r := range o.readers {
			if err := w.read(context.Background(), w.store, r, 1+w.IntN(9)); err != nil {
				w.breaks(pages, "a poller can't read: %v", err)
			}
			if len(r.seen) != len(o.audit) {
				w.breaks(pages, "a poller of %s has seen %d of %d entries", o.id, len(r.seen), len(o.audit))
			}
		}
	}
}
