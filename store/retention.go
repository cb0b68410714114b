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

// chunk is how many records one transaction of long work touches: few enough not
// to delay other writers.
const chunk = 500

// Sweep drops expired data in small transactions: idempotency records after
// IdempotencyTTL, deliveries with their events when they have been finished, or
// held, for the given times, mails that could not be sent after MailTTL, what is
// left of removed endpoints, sessions and sign-in links that have ended, and old
// counts.
func Sweep(ctx context.Context, s Store, finished, held time.Duration) error {
	for _, drop := range []func(tx Tx) (int, error){
		func(tx Tx) (int, error) { return tx.ExpireIdempotencyRecords(chunk) },
		func(tx Tx) (int, error) { return dropDeliveries(tx, tx.FinishedBefore, finished) },
		func(tx Tx) (int, error) { return dropDeliveries(tx, tx.HeldBefore, held) },
		dropMails,
		dropRemoved,
		dropAmong(Tx.Sessions, dropSession),
		dropAmong(Tx.SignInLinks, dropSignInLink),
		dropDeliveryCounts,
	} {
		if err := sweep(ctx, s, drop); err != nil {
			return err
		}
	}
	return nil
}

// sweep calls drop until there is nothing left to drop.
func sweep(ctx context.Context, s Store, drop func(Tx) (int, error)) error {
	for {
		n := 0
		err := s.Update(ctx, func(tx Tx) (err error) {
			n, err = drop(tx)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// dropAmong drops the expired items of a list that is not ordered by expiry. Each
// call continues after the last item of the one before. drop checks an item, and
// returns its id.
func dropAmong[T any](list func(tx Tx, after string, limit int) ([]T, error), drop func(Tx, T) (id string, err error)) func(Tx) (int, error) {
	seen := ""
	return func(tx Tx) (int, error) {
		items, err := list(tx, seen, chunk)
		for i := 0; err == nil && i < len(items); i++ {
			seen, err = drop(tx, items[i])
		}
		return len(items), err
	}
}

// dropDeliveries drops deliveries that find returns as older than keep.
func dropDeliveries(tx Tx, find func(before time.Time, limit int) ([]string, error), keep time.Duration) (int, error) {
	ids, err := find(tx.Now().Add(-keep), chunk)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := dropDelivery(tx, id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// dropDelivery drops a delivery, and with an event's last delivery the event.
func dropDelivery(tx Tx, id string) error {
	d, err := tx.Delivery(id)
	if err != nil {
		return err
	}
	if err := tx.DeleteDelivery(id); err != nil {
		return err
	}
	event, err := tx.Event(d.EventID)
	if err != nil {
		return err
	}
	for _, other := range event.Deliveries {
		if _, err := tx.Delivery(other); !IsNotFound(err) {
			return err // it exists, or could not be read
		}
	}
	return tx.DeleteEvent(event.ID)
}

func dropMails(tx Tx) (int, error) {
	mails, err := tx.Mails("", chunk)
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

// dropRemoved drops deliveries of one removed endpoint, and the endpoint with the
// last of them.
func dropRemoved(tx Tx) (int, error) {
	removed, err := tx.RemovedEndpoints(1)
	if err != nil || len(removed) == 0 {
		return 0, err
	}
	for _, list := range []DeliveryList{ListAcknowledged, ListWaiting, ListFailed} {
		page, _, err := tx.DeliveryPage(removed[0], list, Cursor{}, chunk)
		if err != nil {
			return 0, err
		}
		for _, d := range page {
			if err := dropDelivery(tx, d.ID); err != nil {
				return 0, err
			}
		}
		if len(page) > 0 {
			return len(page), nil
		}
	}
	return 1, tx.ForgetEndpoint(removed[0])
}
