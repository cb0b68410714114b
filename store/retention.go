package store

import (
	"context"
	"time"
)

// DefaultDeliveryRetention is how long finished deliveries and their events are
// kept.
const DefaultDeliveryRetention = 30 * 24 * time.Hour

// DefaultHeldRetention is how long deliveries are held at a disabled endpoint.
const DefaultHeldRetention = 90 * 24 * time.Hour

// SweepEvery is how often Sweep is called, and how long one goes on before it
// hurries.
const SweepEvery = 10 * time.Minute

// SweepKinds are the kinds of expired data.
var SweepKinds = []string{"idempotency", "finished", "held", "mail", "removed", "session", "signInLink", "replay", "counts"}

// Retention says how long deliveries are kept.
type Retention struct {
	Finished time.Duration // from their last attempt, with their events
	Held     time.Duration // see Endpoint.HeldSince; at one that is pulled, from when they were made

	// Dropped is told after each transaction how many records of a kind it
	// dropped; nil: nobody wants to know.
	Dropped func(kind string, n int)
	// Mailed is told when mail was queued; nil: nobody wants to know.
	Mailed func()
}

// Sweep drops expired data beside traffic, at its [pace]: idempotency records after
// IdempotencyTTL, deliveries with their events when they have been finished, or
// held, for the given times, mails that could not be sent after MailTTL, what is
// left of removed endpoints and orgs, sessions, sign-in links and replays that have
// ended, and old counts. It also takes back what consumers leased and left, queues the
// mails about endpoints that nobody pulls from, and tells which keys expire.
func Sweep(ctx context.Context, s Store, r Retention) error {
	w := sweep{ctx: ctx, store: s, report: r.Dropped, pace: newPace(SweepEvery)}
	w.repeat("idempotency", Tx.ExpireIdempotencyRecords)
	w.eachIn("finished", ofDeliveries, oldest(Tx.FinishedBefore, r.Finished), r.dropFinished)
	w.endLeases()
	w.eachIn("held", ofDeliveries, oldest(Tx.HeldBefore, r.Held), r.dropHeld)
	w.repeat("mail", dropMails)
	w.removed()
	w.each("session", among(Tx.Sessions, expiredSession), dropSession)
	w.each("signInLink", among(Tx.SignInLinks, expiredSignInLink), dropSignInLink)
	w.each("replay", among(Tx.AllReplayJobs, expiredReplay), dropReplay)
	w.repeat("counts", dropDeliveryCounts)
	w.tellOfKeys()
	if w.warnOfUnpulled(); w.mailed && r.Mailed != nil {
		r.Mailed()
	}
	return w.err
}

// sweep is a running Sweep. After an error it does nothing more.
type sweep struct {
	ctx    context.Context
	store  Store
	report func(kind string, n int)
	pace   pace
	mailed bool // mail was queued
	err    error
}

// update runs one transaction, which returns how many records it dropped.
func (w *sweep) update(kind string, scope Scope, drop func(tx Tx, step int) (int, error)) (n int) {
	w.err = w.pace.update(w.ctx, w.store, scope, func(tx Tx, step int) (err error) {
		n, err = drop(tx, step)
		return err
	})
	if w.err == nil && n > 0 && w.report != nil {
		w.report(kind, n)
	}
	return n
}

// repeat calls drop until it drops nothing.
func (w *sweep) repeat(kind string, drop func(tx Tx, step int) (int, error)) {
	for n := 1; w.err == nil && n > 0; {
		n = w.update(kind, All, drop)
	}
}

// A finder looks at up to limit records after one that it has seen before, "" at
// first. It returns the ids of the expired ones, and the last one that it saw if
// there may be more.
type finder func(tx Tx, after string, limit int) (ids []string, last string, err error)

// each calls drop with all that find finds. Finding can take long where there are
// many endpoints, so that is done beside the writer, many steps ahead, and drop
// checks whether a record still is to be dropped. It ends with what had expired when
// it looked last: some more expire all the time.
func (w *sweep) each(kind string, find finder, drop func(tx Tx, id string) (bool, error)) {
	w.eachIn(kind, func([]string) Scope { return All }, find, drop)
}

// ofDeliveries is the scope of dropping deliveries, which lets an engine read them all
// at once.
func ofDeliveries(ids []string) Scope { return Scope{All: true, Deliveries: ids} }

// eachIn is each, with a scope that may depend on the ids.
func (w *sweep) eachIn(kind string, scope func(ids []string) Scope, find finder, drop func(tx Tx, id string) (bool, error)) {
	const ahead = 100 * firstStep
	for after, more := "", true; w.err == nil && more; more = after != "" {
		var ids []string
		w.err = w.store.View(w.ctx, func(tx Tx) (err error) {
			ids, after, err = find(tx, after, max(ahead, w.pace.step()))
			return err
		})
		for w.err == nil && len(ids) > 0 {
			some := ids[:min(w.pace.step(), len(ids))]
			of := scope(some)
			w.update(kind, of, func(tx Tx, _ int) (int, error) {
				if err := tx.ReadToDelete(of.Deliveries); err != nil {
					return 0, err
				}
				return dropEach(tx, some, drop)
			})
			ids = ids[len(some):]
		}
	}
}

func dropEach(tx Tx, ids []string, drop func(tx Tx, id string) (bool, error)) (n int, err error) {
	for _, id := range ids {
		dropped, err := drop(tx, id)
		if err != nil {
			return n, err
		}
		if dropped {
			n++
		}
	}
	return n, nil
}

// among finds the expired items of a list that is not ordered by expiry.
func among[T any](list func(tx Tx, after string, limit int) ([]T, error), expired func(T, time.Time) (id string, yes bool)) finder {
	return func(tx Tx, after string, limit int) (ids []string, last string, err error) {
		items, err := list(tx, after, limit)
		for _, item := range items {
			id, yes := expired(item, tx.Now())
			if yes {
				ids = append(ids, id)
			}
			if len(items) == limit {
				last = id
			}
		}
		return ids, last, err
	}
}

// oldest is a finder of deliveries by their age. Those that it found before are
// dropped.
func oldest(find func(tx Tx, before time.Time, limit int) ([]string, error), keep time.Duration) finder {
	return func(tx Tx, _ string, limit int) (ids []string, last string, err error) {
		ids, err = find(tx, tx.Now().Add(-keep), limit)
		if len(ids) == limit {
			last = ids[limit-1]
		}
		return ids, last, err
	}
}

func (r Retention) dropFinished(tx Tx, id string) (bool, error) {
	d, err := tx.Delivery(id)
	if err != nil || !d.State.Finished() || !d.FinishedAt.Before(tx.Now().Add(-r.Finished)) {
		return false, unlessNotFound(err)
	}
	return true, tx.DeleteDelivery(d.ID)
}

func (r Retention) dropHeld(tx Tx, id string) (bool, error) {
	d, err := tx.Delivery(id)
	if err != nil {
		return false, unlessNotFound(err)
	}
	e, err := tx.Endpoint(d.OrgID, d.EndpointID)
	before := tx.Now().Add(-r.Held)
	expired := d.StateAt(&e) == StateHeld && e.HeldSince(d.DueAt).Before(before)
	if e.Pull() { // one that was given back or replayed is kept for as long from then on
		expired = d.State.Waiting() && d.CreatedAt.Before(before) && d.DueAt.Before(before)
	}
	if err != nil || e.Number != d.EndpointNumber || !expired {
		return false, unlessNotFound(err)
	}
	return true, tx.DeleteDelivery(d.ID)
}

// unlessNotFound is for records that somebody else may have dropped.
func unlessNotFound(err error) error {
	if IsNotFound(err) {
		return nil
	}
	return err
}

// dropped is what came of dropping a record that somebody else may have dropped.
func dropped(err error) (bool, error) { return err == nil, unlessNotFound(err) }

func dropMails(tx Tx, step int) (int, error) {
	mails, err := tx.Mails("", step)
	n := 0
	for _, m := range mails { // oldest first
		if err != nil || tx.Now().Sub(m.CreatedAt) <= MailTTL {
			break
		}
		err = tx.DeleteMail(m.ID)
		n++
	}
	return n, err
}
