package server

import (
	"net/http"

	"teamdata/internal/web"
	"teamdata/store"
)

// maxBody is the most that is read of a request's body, in bytes.
const maxBody = 64 << 10

// testWebhook sends a test event to an endpoint: it commits the event and its
// delivery, with the answer when the request carries an Idempotency-Key.
func (x *exchange) testWebhook() error {
	key, err := web.IdempotencyKey(x.r.Header)
	if err != nil {
		return err
	}
	body, err := web.ReadBody(x.w, x.r, maxBody)
	if err != nil {
		return err
	}
	var print store.Fingerprint // needed to tell keyed requests apart, and not cheap
	if key != "" {
		print = store.FingerprintOf(x.r.Method, x.r.URL.Path, x.s.versions[x.version].date, body)
	}
	a, replayed, err := x.s.idempotency.Do(x.r.Context(), x.s.store, x.access.Key.OrgID, key, print, x.sendTest)
	if err != nil {
		return err
	}
	if replayed {
		x.w.Header()["Idempotent-Replayed"] = web.Replayed
	}
	x.send(a)
	return nil
}

// sendTest is the work itself. Its answer may be kept, so it is made as the
// client will see it: the same request gets the same bytes again.
func (x *exchange) sendTest(tx store.Tx) (store.Answer, error) {
	var a store.Answer
	delivery, err := store.SendTest(tx, x.access.Key.OrgID, x.params.ByName("id"))
	if err == nil {
		body := store.AppendJSONString([]byte(`{"id":`), delivery.ID)
		a = web.JSON(http.StatusOK, append(body, '}'))
	}
	a, err = web.Outcome(a, err)
	return x.inVersion(a), err
}
