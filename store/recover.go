package store

import (
	"context"
	"time"
)

// triedSince reports whether the latest attempt of a waiting delivery ended at or
// after a time. If that was not recorded, as in old data files, it returns true.
func (d *Delivery) triedSince(since time.Time) bool {
	if len(d.History) == 0 {
		return d.State == StateRetrying
	}
	return !d.History[len(d.History)-1].EndedAt.Before(since)
}

// Recover requeues all deliveries of an endpoint whose latest attempt failed at
// or after a time: failed ones and those waiting for a retry. All become due now,
// in order of their events; at a disabled endpoint they are held. It returns
// their number. The work is done in small transactions, at its [pace]: after an
// error, call it again to continue. notFound: the org has no such endpoint, or it was removed
// meanwhile.
func Recover(ctx context.Context, s Store, actorID, orgID, endpointID string, since time.Time) (n int, err error) {
	var r recovery
	err = s.View(ctx, func(tx Tx) error {
		e, err := FindEndpoint(tx, orgID, endpointID)
		r = recovery{actorID: actorID, endpoint: e, since: since, now: tx.Now(), pace: newPace(patience)}
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, list := range []DeliveryList{ListFailed, ListWaiting} {
		if err := r.recoverList(ctx, s, list); err != nil {
			return r.done, err
		}
	}
	return r.done, nil
}

// recovery is a running Recover.
type recovery struct {
	actorID  string
	endpoint Endpoint
	since    time.Time
	now      time.Time // when it began; its deliveries become due then
	pace     pace
	done     int
}

func (r *recovery) recoverList(ctx context.Context, s Store, list DeliveryList) error {
	after := CursorOf(r.now, "~") // after every id: deliveries that fail or become due from now on are left alone
	for more := true; more; {
		next, n := after, 0
		err := r.pace.update(ctx, s, InOrg(r.endpoint.OrgID), func(tx Tx, step int) (err error) {
			next, n, more, err = r.recoverSome(tx, list, after, step)
			return err
		})
		if err != nil {
			return err
		}
		after, r.done = next, r.done+n
	}
	return nil
}

// recoverSome handles one step of a list and returns where the next begins.
func (r *recovery) recoverSome(tx Tx, list DeliveryList, after Cursor, step int) (next Cursor, n int, more bool, err error) {
	if err := r.stillThere(tx); err != nil {
		return after, 0, false, err
	}
	page, more, err := tx.DeliveryPage(r.endpoint.Number, list, after, step)
	if err != nil {
		return after, 0, false, err
	}
	for _, d := range page {
		_, next = d.Position()
		if list == ListFailed && d.FinishedAt.Before(r.since) {
			more = false // and so are all that follow
			break
		}
		if list == ListWaiting && !d.triedSince(r.since) {
			continue
		}
		d.requeue(r.now)
		if err := tx.PutDelivery(d); err != nil {
			return after, 0, false, err
		}
		n++
	}
	if n > 0 && r.done == 0 {
		err = auditBy(nil, tx, r.actorID, r.endpoint.OrgID, "endpoint.recovered", r.endpoint.ID)
	}
	return next, n, more, err
}

// stillThere checks that the endpoint has not been removed since it was found.
func (r *recovery) stillThere(tx Tx) error {
	e, err := FindEndpoint(tx, r.endpoint.OrgID, r.endpoint.ID)
	if err == nil && e.Number != r.endpoint.Number { // another was created under its id
		err = Errorf(CodeNotFound, "The webhook endpoint was removed meanwhile.")
	}
	return err
}
