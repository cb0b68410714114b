package storetest

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// trace is what an engine chose by itself in one transaction: its time, ids,
// positions in lists and endpoint numbers. An oracle that runs the same rules
// is given the same.
type trace struct {
	now       time.Time
	ids       []string
	positions []store.Cursor
	numbers   []uint64
}

// watched is a transaction of an engine that keeps its trace, and each of whose
// writes is done and then fails, if wrote says so.
type watched struct {
	nouns
	watchedByHand
}

// watcher is what a watched transaction tells.
type watcher struct {
	*trace
	wrote func() error
}

// then tells of a write, which may have failed.
func (w watcher) then(err error) error {
	if err != nil {
		return err
	}
	return w.wrote()
}

func watch(tx store.Tx) watched { return watchInto(tx, &trace{now: tx.Now()}, wroteAll) }

func wroteAll() error { return nil }

// watchInto is watch with a trace to go on with, and a function that is called after each
// write.
func watchInto(tx store.Tx, t *trace, wrote func() error) watched {
	w := watcher{t, wrote}
	return watched{decorated(tx, func(r rows.Rows) rows.Rows { return watchedRows{r, w} }), watchedByHand{tx, tx, w}}
}

// watchedRows are the rows of a watched transaction.
type watchedRows struct {
	rows.Rows
	watcher
}

func (w watchedRows) Next(k *rows.Kind) (uint64, error) {
	n, err := w.Rows.Next(k)
	w.numbers = append(w.numbers, n)
	return n, err
}

func (w watchedRows) Write(k *rows.Kind, r *rows.Row) error { return w.then(w.Rows.Write(k, r)) }

func (w watchedRows) Expire(k *rows.Kind, before time.Time, limit int) (int, error) {
	n, err := w.Rows.Expire(k, before, limit)
	return n, w.then(err)
}

// NewID keeps the ids that rules ask for. Those of items in lists are in their positions.
func (w watched) NewID(prefix string) string {
	id := w.nouns.NewID(prefix)
	w.ids = append(w.ids, id)
	return id
}

func (w watched) AppendMember(m store.Member) (store.Member, error) {
	m, err := w.nouns.AppendMember(m)
	return m, w.placed(memberPosition(m), err)
}

func (w watched) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e, err := w.nouns.AppendAudit(e)
	return e, w.placed(auditPosition(e), err)
}

func (w watcher) placed(at store.Cursor, err error) error {
	if err == nil {
		w.positions = append(w.positions, at)
	}
	return err
}

// watching is a store whose transactions are watched.
type watching struct {
	store.Store
	watch func(store.Tx) watched
}

func (s watching) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx store.Tx) error { return fn(s.watch(tx)) })
}

// take removes and returns the first of what is left of a trace.
func take[T any](from *[]T, what string) T {
	if len(*from) == 0 {
		panic(fmt.Sprintf("the oracle asks for a %s more than the engine gave", what))
	}
	first := (*from)[0]
	*from = (*from)[1:]
	return first
}
