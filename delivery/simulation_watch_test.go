package delivery_test

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
)

// face is the store as one of its users sees it. What that user writes is
// watched, and held to what it may write.
type face struct {
	store.Store
	w      *world
	who    string
	expect func(*act) want
}

// as is the store for a user. When an Update of it is committed, expect brings
// what the world knows to what must be so from then on, and tells what must
// have been written.
func (w *world) as(who string, expect func(*act) want) face {
	return face{w.store, w, who, expect}
}

// act is an Update on its way: what it wrote, by the latest run of its closure.
type act struct {
	who    string
	expect func(*act) want

	now       time.Time // of the store
	audits    []store.AuditEntry
	events    []store.Event
	added     []store.Delivery
	put       []store.Delivery
	dropped   []string // deliveries
	unheard   []string // events that were dropped
	endpoints []store.Endpoint
	made      []store.Endpoint
	removed   []store.Endpoint
	forgotten []uint64
	mails     []store.Mail
	sent      []string // mails that were dropped
	answers   []store.IdempotencyRecord
	expired   int // answers that were dropped

	committed  bool
	returned   bool
	returnedAt time.Time
}

// brief is what was written, in a line.
func (a *act) brief() string {
	line := "commit: " + a.who
	for _, e := range a.audits {
		line += ", " + e.Action
	}
	for _, d := range a.put {
		line += fmt.Sprintf(", %s", place(d.State, d.Attempts, d.DueAt, d.FinishedAt))
	}
	return line
}

func (a *act) wrote() bool {
	return len(a.made)+len(a.removed)+len(a.forgotten)+len(a.audits)+len(a.events)+len(a.put)+len(a.dropped)+len(a.endpoints)+len(a.mails)+len(a.sent)+len(a.answers)+a.expired > 0
}

// Update watches what is written, and what became of it.
func (f face) Update(ctx context.Context, fn func(store.Tx) error) error {
	if f.w.isBroken() {
		return errBroken
	}
	a := &act{who: f.who, expect: f.expect}
	err := f.Store.Update(ctx, func(tx store.Tx) error {
		*a = act{who: f.who, expect: f.expect, now: tx.Now()}
		if err := fn(watched{tx, a}); err != nil {
			return err
		}
		f.w.pend(a)
		return nil
	})
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	switch a.returned, a.returnedAt = true, time.Now(); {
	case err == nil && a.wrote() && !a.committed:
		f.w.breaksLocked(commits, "%s was told of a commit that did not come about", f.who)
	case err != nil && a.committed:
		f.w.breaksLocked(commits, "%s got %v, and it was committed", f.who, err)
	}
	return err
}

// pend notes, in the order of their commits, what is about to be committed.
func (w *world) pend(a *act) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, a)
}

// beforeCommit is where a commit fails, or all of it begins to be true.
func (w *world) beforeCommit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	acts := w.pending
	w.pending = nil
	w.happened++
	if err := w.disk.commit(); err != nil {
		if err == errDead {
			w.calmAt = never
		}
		w.noteLocked("a commit of %d fails: %v", len(acts), err)
		return err
	}
	for _, a := range acts {
		a.committed = true
		w.hold(a, a.expect(a))
	}
	return nil
}
