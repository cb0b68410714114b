package web

import (
	"errors"
	"io"
	"net/http"

	"teamdata/store"
)

// IdempotencyKey returns the header Idempotency-Key, or "".
func (r *Request) IdempotencyKey() (string, error) {
	values := r.HTTP.Header["Idempotency-Key"]
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", store.Invalid("Idempotency-Key", "is given more than once").Advise("send it once")
	case !store.ValidIdempotencyKey(values[0]):
		return "", store.Invalid("Idempotency-Key", "must be 1 to 255 printable ASCII characters")
	}
	return values[0], nil
}

// ReadBody reads the body, of at most limit bytes. payloadTooLarge: it has more.
func (r *Request) ReadBody(limit int64) ([]byte, error) {
	switch {
	case r.HTTP.ContentLength == 0:
		return nil, nil
	case r.HTTP.ContentLength > limit:
		return nil, errTooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.W, r.HTTP.Body, limit))
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
