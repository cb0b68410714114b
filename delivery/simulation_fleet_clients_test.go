package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// clientAction lets a client do something, on any node.
func (f *fleet) clientAction() {
	o := f.IntN(len(f.orgs))
	switch n := f.IntN(100); {
	case n < 50:
		f.upload(f.orgs[o])
	case n < 60:
		for range 5 + f.IntN(20) {
			f.upload(pick(f.Rand, f.orgs))
		}
	case n < 80:
		f.request(pick(f.Rand, f.endpoints))
	default:
		f.clients.Go(func() { f.read(f.readers[o], 7) })
	}
}

// update is an Update of a client on a node. What it was told is noted.
func (f *fleet) update(p *fleetProcess, org string, do func(s store.Store, seen func(store.Tx) store.Tx) error) (*transaction, error) {
	a := &transaction{}
	p.gate()
	err := do(storetest.Scoped(f, p.store), func(tx store.Tx) store.Tx {
		*a = transaction{now: tx.Now()}
		return watch(tx, a)
	})
	p.gate()
	f.mu.Lock()
	defer f.mu.Unlock()
	if code := store.CodeOf(err); code == store.CodeUnavailable {
		f.sum.unsure++
		if !f.calmAt.After(time.Now()) {
			f.breaksLocked(commits, "%s is asked for something in %s, and answers %v", p.node.name, org, err)
		}
	}
	return a, err
}

// accepted notes what was accepted, with the lock.
func (f *fleet) accepted(a *transaction) {
	for i, d := range a.added {
		f.sum.accepted++
		e := f.endpointNamed(d.OrgID, d.EndpointID)
		f.parcel(a.added[i].ID, e, string(a.events[0].Body)).accepted = true
		f.noteLocked("%s to %s is accepted", d.ID, e.name)
	}
}

func (f *fleet) endpointNamed(orgID, id string) *endpoint {
	i := slices.IndexFunc(f.endpoints, func(e *endpoint) bool { return e.orgID == orgID && e.id == id })
	return f.endpoints[i]
}

func (f *fleet) upload(org string) {
	p := f.running()
	if p == nil {
		return
	}
	f.keys++
	file := store.File{OrgID: org, ID: fmt.Sprint("fil_", f.keys), Name: "a.pdf", ContentType: "application/pdf", Size: 1}
	f.clients.Go(func() {
		a, err := f.update(p, org, func(s store.Store, seen func(store.Tx) store.Tx) error {
			return s.Update(context.Background(), store.InOrg(org), func(tx store.Tx) error {
				_, err := store.UploadFile(seen(tx), "", file)
				return err
			})
		})
		f.mu.Lock()
		defer f.mu.Unlock()
		if err == nil {
			f.accepted(a)
		} else if store.CodeOf(err) != store.CodeUnavailable {
			f.breaksLocked(commits, "an upload got %v", err)
		}
	})
}

// wish is a request that is made again, on another node each time, until it is answered.
type wish struct {
	made   map[string]bool // deliveries that one of the tries made, some of them in vain
	answer string
}

func (f *fleet) request(e *endpoint) {
	f.keys++
	key := fmt.Sprint("key ", f.keys)
	w := &wish{made: map[string]bool{}}
	f.asked[key] = w
	for range 1 + f.IntN(2) {
		f.clients.Go(func() {
			for range 60 {
				if p := f.running(); p != nil && f.ask(p, e, key, w) {
					return
				}
				<-time.After(time.Second)
			}
		})
	}
}

// ask makes a request once, and reports whether it is done.
func (f *fleet) ask(p *fleetProcess, e *endpoint, key string, w *wish) (done bool) {
	print := store.FingerprintOf("POST", e.id, "", nil)
	var got store.Answer
	a, err := f.update(p, e.orgID, func(s store.Store, seen func(store.Tx) store.Tx) (err error) {
		scope := store.InOrg(e.orgID)
		got, _, err = p.api.Do(context.Background(), s, scope, store.IdempotencyKey{OrgID: e.orgID, Key: key}, print, func(tx store.Tx) (store.Answer, error) {
			d, err := store.SendTest(seen(tx), e.orgID, e.id)
			return store.Answer{Status: 202, Body: []byte(d.ID)}, err
		})
		return err
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range a.added {
		w.made[d.ID] = true
	}
	if err != nil {
		return f.isBrokenLocked()
	}
	if answer := string(got.Body); w.answer != "" && w.answer != answer {
		f.breaksLocked(commits, "%s is answered %s, and was answered %s", key, answer, w.answer)
	}
	if w.answer = string(got.Body); w.answer != "" {
		if len(a.added) > 0 && a.added[0].ID == w.answer { // and not what was made in vain, before another node's answer was found
			f.accepted(a)
		}
		if d := f.parcels[w.answer]; d != nil {
			d.accepted = true
		}
	}
	return true
}

// compareWishes checks that no request was executed twice.
func (f *fleet) compareWishes(there map[string]bool) {
	for key, w := range f.asked {
		n := 0
		for id := range w.made {
			if there[id] {
				n++
			}
		}
		if n > 1 || w.answer != "" && !there[w.answer] {
			f.breaksLocked(commits, "the request with %s made %d deliveries; it was answered %q", key, n, w.answer)
		}
	}
}

// reader follows an org's audit log, and asks another node for each page.
type reader struct {
	org    string
	cursor store.Cursor
	seen   []string // ids
	busy   bool
}

// read reads to the end of the log, or until a node can't be asked.
func (f *fleet) read(r *reader, limit int) {
	f.mu.Lock()
	busy := r.busy
	r.busy = true
	f.mu.Unlock()
	for more := !busy; more; {
		p := f.running()
		if p == nil {
			break
		}
		p.gate()
		var page store.Page
		err := p.store.View(context.Background(), func(tx store.Tx) (err error) {
			page, err = tx.AuditPage(r.org, r.cursor, limit, nil)
			return err
		})
		if more = err == nil && page.More; err == nil && page.Count > 0 {
			r.cursor = page.Last
			r.seen = append(r.seen, f.idsOf(page.Items)...)
		}
	}
	if !busy {
		f.mu.Lock()
		r.busy = false
		f.mu.Unlock()
	}
}

func (f *fleet) idsOf(items []byte) (ids []string) {
	var entries []struct{ ID string }
	if err := json.Unmarshal([]byte("["+string(items)+"]"), &entries); err != nil {
		f.breaks(pages, "a page can't be read: %v", err)
	}
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// compareLog compares what a reader saw, page by page, with the whole log.
func (f *fleet) compareLog(tx store.Tx, r *reader) error {
	page, err := tx.AuditPage(r.org, store.Cursor{}, 100_000, []byte("["))
	if err != nil {
		return err
	}
	var all []struct{ ID string }
	if err := json.Unmarshal(append(page.Items, ']'), &all); err != nil {
		return err
	}
	for i, id := range r.seen {
		if i >= len(all) || all[i].ID != id {
			f.breaksLocked(pages, "a poller of %s saw %s as entry %d, which is another one", r.org, id, i+1)
			break
		}
	}
	return nil
}
