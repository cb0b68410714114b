package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// storeClient is the store as one of its users sees it. All that the user writes is
// recorded, and compared with what it must write.
type storeClient struct {
	store.Store
	w      *world
	who    string
	expect func(*transaction) want
}

// as returns the store for a user. When an Update of it is committed, expect brings
// the model up to date, and returns what must have been written.
func (w *world) as(who string, expect func(*transaction) want) storeClient {
	return storeClient{storetest.Scoped(w, w.store), w, who, expect}
}

// transaction is an Update that runs: what the latest run of its closure wrote.
type transaction struct {
	who    string
	expect func(*transaction) want

	now           time.Time // of the store
	audits        []store.AuditEntry
	events        []store.Event
	added         []store.Delivery
	put           []store.Delivery
	dropped       []string // deliveries
	droppedEvents []string // events that were dropped
	endpoints     []store.Endpoint
	made          []store.Endpoint
	removed       []store.Endpoint
	forgotten     []uint64
	mails         []store.Mail
	sent          []string // mails that were dropped
	answers       []store.IdempotencyRecord
	expired       int // answers that were dropped

	committed  bool
	returned   bool
	returnedAt time.Time
}

// brief is what was written, in a line.
func (a *transaction) brief() string {
	line := "commit: " + a.who
	for _, e := range a.audits {
		line += ", " + e.Action
	}
	for _, d := range a.put {
		line += fmt.Sprintf(", %s", place(d.State, d.Attempts, d.DueAt, d.FinishedAt))
	}
	return line
}

func (a *transaction) wrote() bool {
	return len(a.made)+len(a.removed)+len(a.forgotten)+len(a.audits)+len(a.events)+len(a.put)+len(a.dropped)+len(a.endpoints)+len(a.mails)+len(a.sent)+len(a.answers)+a.expired > 0
}

// Update records what is written, and whether it was committed.
func (f storeClient) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if f.w.isBroken() {
		return errBroken
	}
	a := &transaction{who: f.who, expect: f.expect}
	err := f.Store.Update(ctx, scope, func(tx store.Tx) error {
		*a = transaction{who: f.who, expect: f.expect, now: tx.Now()}
		if err := fn(watched{tx, a}); err != nil {
			return err
		}
		f.w.pend(a)
		return nil
	})
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.unpendLocked(a)
	switch a.returned, a.returnedAt = true, time.Now(); {
	case err == nil && a.wrote() && !a.committed:
		f.w.breaksLocked(commits, "%s got no error, and nothing was committed", f.who)
	case err != nil && a.committed:
		f.w.breaksLocked(commits, "%s got %v, and it was committed", f.who, err)
	}
	return err
}

// pend adds a transaction to those about to be committed, in their order. One that a
// store ran in vain, and runs again, counts once.
func (w *world) pend(a *transaction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unpendLocked(a)
	w.pending = append(w.pending, a)
}

func (w *world) unpendLocked(a *transaction) {
	w.pending = slices.DeleteFunc(w.pending, func(other *transaction) bool { return other == a })
}

// beforeCommit decides whether a commit fails; if not, it brings the model up to
// date.
func (w *world) beforeCommit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	transactions := w.pending
	w.pending = nil
	w.happened++
	if err := w.disk.commit(); err != nil {
		if err == errDead {
			w.calmAt = never
		}
		w.noteLocked("a commit of %d fails: %v", len(transactions), err)
		return err
	}
	for _, a := range transactions {
		a.committed = true
		w.checkCommit(a, a.expect(a))
	}
	return nil
}

// watched is a Tx that records what is written.
type watched struct {
	store.Tx
	a *transaction
}

func (t watched) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e, err := t.Tx.AppendAudit(e)
	t.a.audits = append(t.a.audits, e)
	return e, err
}

func (t watched) AddEvent(e store.Event, deliveries []store.Delivery) error {
	t.a.events, t.a.added = append(t.a.events, e), append(t.a.added, deliveries...)
	return t.Tx.AddEvent(e, deliveries)
}

func (t watched) PutDelivery(d store.Delivery) error {
	t.a.put = append(t.a.put, d)
	return t.Tx.PutDelivery(d)
}

func (t watched) DeleteDelivery(id string) error {
	t.a.dropped = append(t.a.dropped, id)
	d, errBefore := t.Tx.Delivery(id)
	err := t.Tx.DeleteDelivery(id)
	if _, gone := t.Tx.Event(d.EventID); errBefore == nil && store.IsNotFound(gone) {
		t.a.droppedEvents = append(t.a.droppedEvents, d.EventID)
	}
	return err
}

func (t watched) PutEndpoint(e store.Endpoint) error {
	t.a.endpoints = append(t.a.endpoints, e)
	return t.Tx.PutEndpoint(e)
}

func (t watched) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e, err := t.Tx.AddEndpoint(e)
	t.a.made = append(t.a.made, e)
	return e, err
}

func (t watched) DeleteEndpoint(e store.Endpoint) error {
	t.a.removed = append(t.a.removed, e)
	return t.Tx.DeleteEndpoint(e)
}

func (t watched) ForgetEndpoint(number uint64) error {
	t.a.forgotten = append(t.a.forgotten, number)
	return t.Tx.ForgetEndpoint(number)
}

func (t watched) PutMail(m store.Mail) error {
	t.a.mails = append(t.a.mails, m)
	return t.Tx.PutMail(m)
}

func (t watched) DeleteMail(id string) error {
	t.a.sent = append(t.a.sent, id)
	return t.Tx.DeleteMail(id)
}

func (t watched) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	t.a.answers = append(t.a.answers, r)
	return t.Tx.AddIdempotencyRecord(r)
}

func (t watched) ExpireIdempotencyRecords(limit int) (int, error) {
	n, err := t.Tx.ExpireIdempotencyRecords(limit)
	t.a.expired += n
	return n, err
}
