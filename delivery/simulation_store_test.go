package delivery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
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
	jobs          []store.ReplayJob
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
		line += fmt.Sprintf(", %s", at(&d))
	}
	return line
}

func (a *transaction) wrote() bool {
	return len(a.made)+len(a.removed)+len(a.forgotten)+len(a.audits)+len(a.events)+len(a.put)+len(a.dropped)+len(a.endpoints)+len(a.mails)+len(a.sent)+len(a.answers)+len(a.jobs)+a.expired > 0
}

// Update records what is written, and whether it was committed.
func (f storeClient) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if f.w.isBroken() {
		return errBroken
	}
	if scope.Paced != "" { // it changes nothing that anybody is told of
		f.who, f.expect = "reserving attempts", func(*transaction) want { return want{} }
		f.w.reserves(scope.Orgs[0], scope.Paced)
	}
	a := &transaction{who: f.who, expect: f.expect}
	err := f.Store.Update(ctx, scope, func(tx store.Tx) error {
		*a = transaction{who: f.who, expect: f.expect, now: tx.Now()}
		if err := fn(watch(tx, a)); err != nil {
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

// watch is a transaction that notes what is written.
func watch(tx store.Tx, a *transaction) store.Tx {
	under := tx
	tx.Tx = tx.Decorated(func(r rows.Rows) rows.Rows { return watchedRows{r, under, a} })
	return tx
}

// watchedRows are the rows of a watched transaction.
type watchedRows struct {
	rows.Rows
	tx store.Tx // that is watched
	a  *transaction
}

func (w watchedRows) Write(k *rows.Kind, r *rows.Row) error {
	was, err := w.Get(k, r.Key)
	if err != nil {
		return err
	}
	value, gone := bytes.Clone(r.Value), r.Value == nil
	key, was := bytes.Clone(r.Key), bytes.Clone(was)
	if err := w.Rows.Write(k, r); err != nil || gone && was == nil {
		return err
	}
	if gone {
		return w.dropped(k, key, was)
	}
	return w.written(k, key, value, was == nil)
}

// record is the record of a value.
func record[T any](w watchedRows, k *rows.Kind, key, value []byte) (T, error) {
	v, err := k.Records.Open(w.tx.Tx, key, value)
	if err != nil {
		return *new(T), err
	}
	return v.(T), nil
}

// note adds a record to a list.
func note[T any](w watchedRows, to *[]T, k *rows.Kind, key, value []byte) error {
	v, err := record[T](w, k, key, value)
	*to = append(*to, v)
	return err
}

func (w watchedRows) written(k *rows.Kind, key, value []byte, added bool) error {
	a := w.a
	switch k.Name {
	case "auditLog":
		org, _, _ := strings.Cut(string(key), "\x00")
		e := store.AuditEntry{OrgID: org}
		err := json.Unmarshal(value, &e)
		a.audits = append(a.audits, e)
		return err
	case "deliveries":
		d, _, err := store.ReadDelivery(key, value)
		if err != nil || !added {
			a.put = append(a.put, d)
			return err
		}
		a.added = append(a.added, d)
		if slices.ContainsFunc(a.events, func(e store.Event) bool { return e.ID == d.EventID }) {
			return nil
		}
		e, err := w.tx.Event(d.EventID)
		a.events = append(a.events, e)
		return err
	case "endpoints":
		if added {
			return note(w, &a.made, k, key, value)
		}
		return note(w, &a.endpoints, k, key, value)
	case "mails":
		return note(w, &a.mails, k, key, value)
	case "idempotency":
		return note(w, &a.answers, k, key, value)
	case "replayJobs":
		return note(w, &a.jobs, k, key, value)
	}
	return nil
}

func (w watchedRows) dropped(k *rows.Kind, key, was []byte) error {
	a := w.a
	switch k.Name {
	case "deliveries":
		d, body, err := store.ReadDelivery(key, was)
		if a.dropped = append(a.dropped, d.ID); len(body) > 0 {
			a.droppedEvents = append(a.droppedEvents, d.EventID)
		}
		return err
	case "events":
		a.droppedEvents = append(a.droppedEvents, string(key))
	case "endpoints":
		return note(w, &a.removed, k, key, was)
	case "removedEndpoints":
		a.forgotten = append(a.forgotten, rows.ReadNumber(key))
	case "mails":
		a.sent = append(a.sent, string(key))
	}
	return nil
}

func (w watchedRows) Expire(k *rows.Kind, before time.Time, limit int) (int, error) {
	n, err := w.Rows.Expire(k, before, limit)
	w.a.expired += n
	return n, err
}
