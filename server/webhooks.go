package server

import (
	"errors"
	"io"
	"net/http"

	"teamdata/store"
)

// maxBody is the most that is read of a request's body, in bytes.
const maxBody = 64 << 10

var replayedHeader = []string{"true"}

// testWebhook sends a test event to an endpoint: it commits the event and its
// delivery, with the answer when the request carries an Idempotency-Key.
func (x *exchange) testWebhook() error {
	key, err := idempotencyKey(x.r.Header)
	if err != nil {
		return err
	}
	body, err := x.readBody()
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
		x.w.Header()["Idempotent-Replayed"] = replayedHeader
	}
	x.send(a)
	return nil
}

// sendTest is the work itself. Its answer may be kept, so it is made as the
// client will see it, also when it says no: the same request gets the same
// bytes again. A fault is no answer, and never kept.
func (x *exchange) sendTest(tx store.Tx) (store.Answer, error) {
	delivery, err := store.SendTest(tx, x.access.Key.OrgID, x.params.ByName("id"))
	if err == nil {
		body := store.AppendJSONString([]byte(`{"id":`), delivery.ID)
		return x.inVersion(jsonAnswer(http.StatusOK, append(body, '}'))), nil
	}
	if e := publicError(err); e.Code.Status() < http.StatusInternalServerError {
		return x.inVersion(errorAnswer(e)), nil
	}
	return store.Answer{}, err
}

// idempotencyKey reads the header Idempotency-Key; empty when there is none.
func idempotencyKey(h http.Header) (string, error) {
	values := h["Idempotency-Key"]
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", store.Invalid("Idempotency-Key", "is given more than once; send it once")
	case !store.ValidIdempotencyKey(values[0]):
		return "", store.Invalid("Idempotency-Key", "must be 1 to 255 printable ASCII characters")
	}
	return values[0], nil
}

var errBodyTooLarge = store.Errorf(store.CodePayloadTooLarge, "The request body is larger than %d bytes.", maxBody)

func (x *exchange) readBody() ([]byte, error) {
	switch {
	case x.r.ContentLength == 0:
		return nil, nil
	case x.r.ContentLength > maxBody:
		return nil, errBodyTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errBodyTooLarge
	case err != nil:
		return nil, store.Errorf(store.CodeBadRequest, "The request body could not be read to its end.")
	}
	return body, nil
}
