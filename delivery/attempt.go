package delivery

import (
	"context"

	"teamdata/store"
)

// attempt sends one claimed delivery and records what came of it.
func (d *Dispatcher) attempt(ctx context.Context, e *store.Endpoint, c *store.Claim) {
	defer d.flying.Done()
	a := d.send(ctx, e, c)
	if ctx.Err() == nil { // else the attempt was cut off by the stop: it does not count
		d.record(ctx, e, c.Delivery.ID, a)
	}
	d.store.Release(c.Delivery.ID)
	d.inbox.noteDone(landing{e.Number, outcomeOf(&a)})
}

func (d *Dispatcher) record(ctx context.Context, e *store.Endpoint, deliveryID string, a store.Attempt) {
	disabled := false
	record(ctx, d.store, d.config.Log, func(tx store.Tx) (err error) {
		disabled, err = store.RecordAttempt(tx, deliveryID, a, d.config.Schedule)
		return err
	})
	if disabled && ctx.Err() == nil {
		d.noteDisabled(e, deliveryID, a.Reason)
	}
}

// noteDisabled tells of an endpoint that an outcome disabled.
func (d *Dispatcher) noteDisabled(e *store.Endpoint, deliveryID, reason string) {
	d.config.Log.Warn().Str("org", e.OrgID).Str("endpoint", e.ID).Str("delivery", deliveryID).Str("reason", reason).
		Msg("a webhook endpoint was disabled: nothing was acknowledged there during a delivery's last retries; its events are held until it is enabled")
	d.config.Mailed()
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
