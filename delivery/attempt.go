package delivery

import (
	"teamdata/store"
)

// attempt sends one claimed delivery and records what came of it.
func (d *Dispatcher) attempt(j job) {
	a := d.send(j.ctx, j.endpoint, j.claim)
	if j.ctx.Err() == nil { // else the attempt was cut off by the stop: it does not count
		d.record(j, a)
	}
	d.store.Release(j.claim.Delivery.ID)
	d.inbox.noteDone(landing{j.endpoint.Number, outcomeOf(&a)})
}

func (d *Dispatcher) record(j job, a store.Attempt) {
	disabled := false
	record(j.ctx, d.store, d.config.Log, func(tx store.Tx) (err error) {
		disabled, err = store.RecordAttempt(tx, j.claim.Delivery.ID, a, d.config.Schedule)
		return err
	})
	if disabled && j.ctx.Err() == nil {
		d.noteDisabled(j.endpoint, j.claim.Delivery.ID, a.Reason)
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
