package storetest

import (
	"context"
	"slices"
	"time"

	"teamdata/store"
)

// switchEndpoint disables an endpoint, or enables it.
func (h *history) switchEndpoint() operation { return h.switchTo(h.IntN(2) == 0) }
func (h *history) enableEndpoint() operation { return h.switchTo(true) }

func (h *history) switchTo(enabled bool) operation {
	org, id := h.org(), pick(h, h.names.endpoints)
	return op(switchEndpoint(org, id, enabled), "endpoint %q of %q is enabled: %v", id, org, enabled)
}

func (h *history) rotate() operation {
	org, id := h.org(), pick(h, h.names.endpoints)
	secret := secretOf(byte(h.IntN(4)), 24)
	overlap := pick(h, []time.Duration{-1, 0, time.Hour, store.MaxSecretOverlap})
	return op(func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, "", org, id, secret, overlap)
		return err
	}, "endpoint %q of %q gets the secret %s, with %v of overlap", id, org, secret, overlap)
}

func (h *history) replayDelivery() operation {
	org, id := h.org(), h.someDelivery()
	if d, ok := h.oracle.deliveries[id]; ok && h.IntN(4) > 0 {
		org = d.OrgID
	}
	return op(func(tx store.Tx) error {
		_, err := store.Replay(tx, "", org, id)
		return err
	}, "replay %s of %q", id, org)
}

// someMail is one that may be there.
func (h *history) someMail() string {
	if len(h.names.mails) == 0 {
		return "mai_none"
	}
	return pick(h, h.names.mails)
}

func (h *history) postponeMail() operation {
	id := h.someMail()
	return op(func(tx store.Tx) error {
		mails, err := tx.Mails("", 1000)
		i := slices.IndexFunc(mails, func(m store.Mail) bool { return m.ID == id })
		if err != nil || i < 0 {
			return err
		}
		_, err = store.PostponeMail(tx, mails[i], store.DefaultMailSchedule)
		return err
	}, "postpone %s", id)
}

func (h *history) deleteMail() operation {
	id := h.someMail()
	return op(func(tx store.Tx) error { return tx.DeleteMail(id) }, "delete %s", id)
}

// upkeep is work in more than one transaction.
func (h *history) upkeep() {
	if h.IntN(2) == 0 {
		keep := time.Duration(h.IntN(10)) * time.Hour
		h.note("sweep, keeping %v", keep)
		h.longWork(func(s store.Store) (int, error) { return 0, store.Sweep(context.Background(), s, keep) })
		return
	}
	org, id := h.org(), pick(h, h.names.endpoints)
	if keys := h.endpointKeys(); len(keys) > 0 && h.IntN(8) > 0 {
		key := pick(h, keys)
		org, id = key.a, key.b
	}
	since := h.Clock.Now().Add(-time.Duration(h.IntN(20*60)) * time.Minute)
	h.note("recover endpoint %q of %q since %v", id, org, since)
	h.longWork(func(s store.Store) (int, error) {
		return store.Recover(context.Background(), s, "", org, id, since)
	})
}

// longWork does work on the store and then on the oracle, which has to come to
// the same.
func (h *history) longWork(work func(store.Store) (int, error)) {
	due := h.oracle.eachDue()
	h.told.take()
	traced := traced{h.Store, &trace{now: h.Clock.Now()}}
	n, err := work(traced)
	h.oracle.trace = traced.trace
	wantN, wantErr := work(direct{tx: h.oracle})
	h.Equal("what the work did", n, wantN)
	h.Code("the work", err, store.CodeOf(wantErr))
	h.nothingLeft("the work", traced.trace)
	h.checkNotices(due)
}

// traced is a store whose transactions share a trace.
type traced struct {
	store.Store
	trace *trace
}

func (t traced) Update(ctx context.Context, fn func(store.Tx) error) error {
	return t.Store.Update(ctx, func(tx store.Tx) error { return fn(recorder{tx, t.trace}) })
}

// direct is a store that runs everything on one transaction.
type direct struct {
	store.Store
	tx store.Tx
}

func (d direct) View(_ context.Context, fn func(store.Tx) error) error   { return fn(d.tx) }
func (d direct) Update(_ context.Context, fn func(store.Tx) error) error { return fn(d.tx) }
