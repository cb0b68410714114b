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
func (r *request) testWebhook() error {
	key, err := web.IdempotencyKey(r.HTTP.Header)
	if err != nil {
		return err
	}
	body, err := web.ReadBody(r.W, r.HTTP, maxBody)
	if err != nil {
		return err
	}
	var print store.Fingerprint // needed to tell keyed requests apart, and not cheap
	if key != "" {
		print = store.FingerprintOf(r.HTTP.Method, r.HTTP.URL.Path, r.s.versions[r.version].date, body)
	}
	a, replayed, err := r.s.idempotency.Do(r.HTTP.Context(), r.s.store, r.access.Key.OrgID, key, print, r.sendTest)
	if err != nil {
		return err
	}
	if replayed {
		r.W.Header()["Idempotent-Replayed"] = web.Replayed
	}
	r.send(a)
	return nil
}

// sendTest is the work itself. Its answer may be kept, so it is made as the
// client will see it: the same request gets the same bytes again.
func (r *request) sendTest(tx store.Tx) (store.Answer, error) {
	var a store.Answer
	delivery, err := store.SendTest(tx, r.access.Key.OrgID, r.Params.ByName("id"))
	if err == nil {
		body := store.AppendJSONString([]byte(`{"id":`), delivery.ID)
		a = web.JSON(http.StatusOK, append(body, '}'))
	}
	a, err = web.Outcome(a, err)
	return r.inVersion(a), err
}
