package admin

import (
	"net/http"
	"strconv"
	"time"

	"teamdata/store"
)

func deliveryJSON(d store.Delivery, e *store.Endpoint) object {
	due := d.DueAt
	if !d.State.Waiting() {
		due = time.Time{}
	}
	return newObject().text("id", d.ID).text("endpointId", d.EndpointID).text("eventType", d.EventType).
		text("state", d.StateAt(e).String()).number("attempts", int64(d.Attempts)).
		time("createdAt", d.CreatedAt).time("dueAt", due).time("finishedAt", d.FinishedAt)
}

func (x *exchange) readDelivery() error {
	return x.read(func(tx store.Tx) (store.Answer, error) {
		d, e, err := store.FindDelivery(tx, x.org(), x.param("delivery"))
		if err != nil {
			return store.Answer{}, err
		}
		event, err := tx.Event(d.EventID)
		whole := deliveryJSON(d, &e).text("eventId", d.EventID).raw("body", event.Body).raw("history", historyJSON(d.History))
		return ok(whole.end()), err
	})
}

func historyJSON(attempts []store.Attempt) []byte {
	list := []byte{'['}
	for i := range attempts {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, attemptJSON(&attempts[i])...)
	}
	return append(list, ']')
}

func attemptJSON(a *store.Attempt) []byte {
	took := strconv.AppendFloat(nil, float64(a.Took().Microseconds())/1000, 'f', 3, 64)
	var status []byte
	if a.Status != 0 {
		status = strconv.AppendInt(nil, int64(a.Status), 10)
	}
	return newObject().time("startedAt", a.StartedAt).raw("tookMs", took).raw("status", status).
		nullable("reason", a.Reason).text("answer", string(a.Answer)).time("nextAt", a.NextAt).end()
}

func (x *exchange) replayDelivery() error {
	return x.act(func(tx store.Tx) (store.Answer, error) {
		d, err := store.Replay(tx, x.actor, x.org(), x.param("delivery"))
		if err != nil {
			return store.Answer{}, err
		}
		e, err := tx.Endpoint(d.OrgID, d.EndpointID)
		return ok(deliveryJSON(d, &e).end()), err
	})
}

// recoverEndpoint takes many transactions, so that no writer waits for it, and
// has as much time as it needs.
func (x *exchange) recoverEndpoint() error {
	var since time.Time
	if err := x.in.Document(x.in.Time("since", &since)); err != nil {
		return err
	}
	if since.IsZero() {
		return store.Invalid("since", "is missing; it is a time such as 2026-10-06T12:00:00.000Z")
	}
	if err := x.checkOrgID(); err != nil {
		return err
	}
	x.waive()
	work := func() (store.Answer, error) { return outcome(x.recoverSince(since)) }
	return x.answerOnce(x.f.idempotency.DoLong(x.r.Context(), x.f.store, x.org(), x.key, x.fingerprint(), work))
}

func (x *exchange) recoverSince(since time.Time) (store.Answer, error) {
	err := x.f.store.View(x.r.Context(), func(tx store.Tx) error { return x.findOrg(tx) })
	if err != nil {
		return store.Answer{}, err
	}
	n, err := store.Recover(x.r.Context(), x.f.store, x.actor, x.org(), x.param("endpoint"), since)
	return ok(newObject().number("recovered", int64(n)).end()), err
}

// waive lifts the deadlines of the connection: what runs now takes as long as
// the data is large. A writer of answers that has none needs no lifting.
func (x *exchange) waive() {
	c := http.NewResponseController(x.w)
	c.SetReadDeadline(time.Time{})
	c.SetWriteDeadline(time.Time{})
}
