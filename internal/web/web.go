// Package web is what the HTTP faces of teamdata have in common: the bodies of
// answers and errors, pages, and the parts of a request that each of them reads
// in the same way.
package web

import (
	"errors"
	"net/http"

	"teamdata/store"
)

// JSONType is the content type of every JSON answer.
const JSONType = "application/json"

// Values of headers, to be set in the header's map directly: that costs nothing,
// and a name keeps its case on HTTP/1.
var (
	NoStore  = []string{"no-store"}
	NoSniff  = []string{"nosniff"}
	Bearer   = []string{"Bearer"}
	Close    = []string{"close"}
	Replayed = []string{"true"} // of Idempotent-Replayed
	Soon     = []string{"5"}    // of Retry-After: seconds until a storage or a restarted server may be back
)

// JSON is an answer with a JSON body.
func JSON(status int, body []byte) store.Answer {
	return store.Answer{Status: status, ContentType: JSONType, Body: body}
}

// ErrInternal is what a client sees of an error that is not a store.Error.
var ErrInternal = store.Errorf(store.CodeInternal, "Something went wrong in the server. Its log says more.")

// PublicError is what a client may see of an error.
func PublicError(err error) *store.Error {
	var e *store.Error
	if errors.As(err, &e) {
		return e
	}
	return ErrInternal
}

// ErrorAnswer is the answer that tells an error: its code, and its message with
// the field.
func ErrorAnswer(e *store.Error) store.Answer {
	message := e.Message
	if e.Field != "" {
		message = e.Field + ": " + message
	}
	body := store.AppendJSONString([]byte(`{"error":{"code":`), string(e.Code))
	body = store.AppendJSONString(append(body, `,"message":`...), message)
	return JSON(e.Code.Status(), append(body, "}}"...))
}

// Outcome turns what a request's work returned into the answer that is kept
// under its Idempotency-Key: what says no is an answer too. A fault of the
// server stays an error, and is never kept.
func Outcome(a store.Answer, err error) (store.Answer, error) {
	if err == nil {
		return a, nil
	}
	if e := PublicError(err); e.Code.Status() < http.StatusInternalServerError {
		return ErrorAnswer(e), nil
	}
	return store.Answer{}, err
}

// SetErrorHeaders sets the headers that belong to an error.
func SetErrorHeaders(h http.Header, e *store.Error) {
	switch e.Code {
	case store.CodeUnauthorized:
		h["WWW-Authenticate"] = Bearer
	case store.CodePayloadTooLarge:
		h["Connection"] = Close
	case store.CodeUnavailable:
		h["Retry-After"] = Soon
	}
}
