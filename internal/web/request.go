package web

import (
	"errors"
	"io"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

// Request is one request on its way to its answer. Each API embeds it in a type of
// its own, which has what its handlers need besides.
type Request struct {
	W      http.ResponseWriter
	HTTP   *http.Request
	Params httprouter.Params // of the path
	Sent   bool              // the answer has begun
}

// IdempotencyKey reads the header Idempotency-Key; empty when there is none.
func IdempotencyKey(h http.Header) (string, error) {
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

// ReadBody reads a request's body of at most limit bytes. payloadTooLarge: it
// has more.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	switch {
	case r.ContentLength == 0:
		return nil, nil
	case r.ContentLength > limit:
		return nil, errTooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge(limit)
	case err != nil:
		return nil, store.Errorf(store.CodeBadRequest, "The request body could not be read to its end.")
	}
	return body, nil
}

func errTooLarge(limit int64) error {
	return store.Errorf(store.CodePayloadTooLarge, "The request body is larger than %d bytes.", limit)
}
