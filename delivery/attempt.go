package delivery

import (
	"context"
	"time"

	"teamdata/store"
)

// recordPause is how long to wait before an outcome that could not be written
// is written again. The delivery stays claimed meanwhile, so that its receiver
// does not get it over and over while the disk is full.
const recordPause = time.Second

// attempt sends one claimed delivery and records what came of it.
func (d *Dispatcher) attempt(ctx context.Context, e *store.Endpoint, c *store.Claim) {
	defer d.flying.Done()
	a := d.send(ctx, e, c)
	if ctx.Err() == nil { // else the attempt was cut off by the stop: it does not count
		d.record(ctx, c.Delivery.ID, a)
	}
	d.store.Release(c.Delivery.ID)
	d.inbox.noteDone(landing{e.Number, outcomeOf(&a)})
}

// record writes the outcome, and does not give up before the grace ends.
func (d *Dispatcher) record(ctx context.Context, deliveryID string, a store.Attempt) {
	for {
		err := d.store.Update(ctx, func(tx store.Tx) error {
			return store.RecordAttempt(tx, deliveryID, a, d.config.Schedule)
		})
		if err == nil || store.IsNotFound(err) || ctx.Err() != nil {
			return
		}
		d.config.Log.Error().Err(err).Str("delivery", deliveryID).Msg("the outcome of an attempt can't be written; trying again")
		select {
		case <-ctx.Done():
		case <-time.After(recordPause):
		}
	}
}

func outcomeOf(a *store.Attempt) outcome {
	switch {
	case a.Acknowledged():
		return acknowledged
	case a.Status == 0 && a.TimedOut:
		return timedOut
	}
	return inVain
}
