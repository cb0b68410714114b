package storetest

import (
	"context"
	"time"

	"teamdata/store"
)

// upkeep is work in more than one transaction.
func (h *history) upkeep() {
	if h.IntN(2) == 0 {
		keep := store.Retention{Finished: time.Duration(h.IntN(10)) * time.Hour, Held: time.Duration(h.IntN(10)) * time.Hour}
		h.note("sweep, keeping %v and %v", keep.Finished, keep.Held)
		h.longWork(func(s store.Store) (n int, err error) {
			keep.Dropped = func(kind string, dropped int) {
				if kind != "idempotency" { // the oracle leaves out those that have expired
					n += dropped
				}
			}
			return n, store.Sweep(context.Background(), s, keep)
		})
		return
	}
	org, id := h.one("org"), h.one("endpoint")
	if all := h.oracle.endpoints(); len(all) > 0 && h.IntN(8) > 0 {
		e := pick(h, all)
		org, id = e.OrgID, e.ID
	}
	since := h.Clock.Now().Add(-time.Duration(h.IntN(20*60)) * time.Minute)
	h.note("replay what endpoint %q of %q did not get since %v", id, org, since)
	h.longWork(func(s store.Store) (int, error) { return replaySince(s, org, id, since) })
}

// replaySince replays what an endpoint did not get since a time, and returns how many
// deliveries that were.
func replaySince(s store.Store, org, endpoint string, since time.Time) (n int, err error) {
	var j store.ReplayJob
	err = s.Update(context.Background(), store.InOrg(org), func(tx store.Tx) (err error) {
		j, err = store.StartReplay(tx, "", store.ReplayJob{OrgID: org, Filter: store.DeliveryFilter{Endpoint: endpoint, Since: since}})
		return err
	})
	if err == nil {
		err = store.RunReplays(context.Background(), s)
	}
	if err == nil {
		err = s.View(context.Background(), func(tx store.Tx) (err error) {
			j, err = store.FindReplay(tx, org, j.ID)
			return err
		})
	}
	return j.Done, err
}

// longWork does work on the store and then on the oracle, which has to come to
// the same.
func (h *history) longWork(work func(store.Store) (int, error)) {
	due := h.allDue()
	h.notified.Take()
	all := &trace{now: h.Clock.Now()}
	n, err := work(watching{h.Store, func(tx store.Tx) store.Tx { return watchInto(tx, all, wroteAll) }})
	h.oracle.begin(all)
	wantN, wantErr := work(direct{tx: h.oracle.Tx})
	h.Equal("what the work did", n, wantN)
	h.Code("the work", err, store.CodeOf(wantErr))
	h.nothingLeft("the work", all)
	h.checkNotices(due)
}

// direct is a store that runs everything on one transaction.
type direct struct {
	store.Store
	tx store.Tx
}

func (d direct) View(_ context.Context, fn func(store.Tx) error) error { return fn(d.tx) }
func (d direct) Update(_ context.Context, _ store.Scope, fn func(store.Tx) error) error {
	return fn(d.tx)
}
