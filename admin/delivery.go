package admin

import (
	"cmp"
	"strconv"
	"time"

	"teamdata/store"
)

func deliveryJSON(d store.Delivery, e *store.Endpoint) object {
	last := cmp.Or(d.LastAttempt(), &store.Attempt{})
	due, attempted := d.DueAt, d.ShownAt()
	if !d.State.Waiting() {
		due = time.Time{}
	}
	if !d.State.Finished() {
		attempted = last.EndedAt
	}
	o := newObject().text("id", d.ID).text("endpointId", d.EndpointID).text("eventId", d.EventID).text("eventType", d.EventType).
		text("state", d.StateAt(e).String()).number("attempts", int64(d.Attempts)).
		time("lastAttemptAt", attempted).status("lastStatus", last.Status).nullable("lastReason", last.Reason).
		time("createdAt", d.CreatedAt).time("dueAt", due).time("finishedAt", d.FinishedAt)
	if d.State != store.StateLeased {
		return o
	}
	l := d.Lease()
	return o.raw("lease", newObject().text("keyId", l.KeyID).time("grantedAt", l.GrantedAt).time("endsAt", l.EndsAt).end())
}

func (r *request) readDelivery() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		d, e, err := store.FindDelivery(tx, r.org(), r.Param("delivery"))
		if err != nil {
			return store.Answer{}, err
		}
		event, err := tx.Event(d.EventID)
		whole := deliveryJSON(d, &e).raw("body", event.Body)
		return ok(list(whole, "history", d.History, attemptJSON).end()), err
	})
}

func attemptJSON(a store.Attempt) []byte {
	took := strconv.AppendFloat(nil, float64(a.Took().Microseconds())/1000, 'f', 3, 64)
	o := newObject().time("startedAt", a.StartedAt).raw("tookMs", took).status("status", a.Status).
		nullable("reason", a.Reason).text("answer", string(a.Answer)).time("nextAt", a.NextAt)
	if a.KeyID != "" {
		o = o.text("keyId", a.KeyID)
	}
	return o.end()
}

func (r *request) replayDelivery() error {
	return r.action(func(tx store.Tx) (store.Answer, error) {
		d, err := store.Replay(tx, r.actor, r.org(), r.Param("delivery"))
		if err != nil {
			return store.Answer{}, err
		}
		e, err := tx.Endpoint(d.OrgID, d.EndpointID)
		return ok(deliveryJSON(d, &e).end()), err
	})
}
