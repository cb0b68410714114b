package storetest

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// trace is what an engine chose by itself in one transaction: its time, ids and endpoint
// numbers. An oracle that runs the same rules is given the same.
type trace struct {
	now     time.Time
	ids     []string
	numbers []uint64
}

// watch returns a transaction of an engine with the trace that it keeps.
func watch(tx store.Tx) (store.Tx, *trace) {
	t := &trace{now: tx.Now()}
	return watchInto(tx, t, wroteAll), t
}

func wroteAll() error { return nil }

// watchInto is watch with a trace to go on with, and a function that is called after each
// write, which fails with its error.
func watchInto(tx store.Tx, t *trace, wrote func() error) store.Tx {
	return store.Tx{
		Tx:    tx.Decorated(func(r rows.Rows) rows.Rows { return watchedRows{r, t, wrote} }),
		Apart: decoratedCounts{tx.Apart, ofAny, wrote},
	}
}

// watchedRows are the rows of a watched transaction.
type watchedRows struct {
	rows.Rows
	*trace
	wrote func() error
}

func (w watchedRows) NewID(prefix string) string {
	id := w.Rows.NewID(prefix)
	w.ids = append(w.ids, id)
	return id
}

func (w watchedRows) Next(k *rows.Kind) (uint64, error) {
	n, err := w.Rows.Next(k)
	w.numbers = append(w.numbers, n)
	return n, err
}

func (w watchedRows) Write(k *rows.Kind, r *rows.Row) error {
	return do(w.Rows.Write(k, r), w.wrote)
}

func (w watchedRows) Expire(k *rows.Kind, before time.Time, limit int) (int, error) {
	n, err := w.Rows.Expire(k, before, limit)
	return n, do(err, w.wrote)
}

// decoratedCounts are the counts of deliveries of a decorated transaction.
type decoratedCounts struct {
	store.Apart
	may   func(org string) error // fails unless those of an org may be asked for; "": of all
	wrote func() error           // is called after each write, which fails with its error
}

func ofAny(string) error { return nil }

func (d decoratedCounts) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	return do(do(d.may(org), func() error { return d.Apart.AddDeliveryCounts(org, endpoint, at, c) }), d.wrote)
}

func (d decoratedCounts) EachDeliveryCounts(org string, from time.Time, fn func(uint64, time.Time, store.DeliveryCounts)) error {
	return do(d.may(org), func() error { return d.Apart.EachDeliveryCounts(org, from, fn) })
}

func (d decoratedCounts) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	return d.drop("", func() (int, error) { return d.Apart.DropDeliveryCounts(before, limit) })
}

func (d decoratedCounts) DropDeliveryCountsOf(org string, limit int) (int, error) {
	return d.drop(org, func() (int, error) { return d.Apart.DropDeliveryCountsOf(org, limit) })
}

func (d decoratedCounts) drop(org string, drop func() (int, error)) (int, error) {
	n, err := get(d.may(org), drop)
	return n, do(err, d.wrote)
}

// watching is a store whose transactions are watched.
type watching struct {
	store.Store
	watch func(store.Tx) store.Tx
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
