package web

import (
	"errors"
	"net/http"

	"teamdata/store"
)

// Errors that don't come from the store.
var (
	// ErrInternal is the answer for an error that is not a store.Error.
	ErrInternal = store.Errorf(store.CodeInternal, "Something went wrong in the server. Its log says more.")
	// ErrStopping is not a fault, and not logged as one.
	ErrStopping = store.Errorf(store.CodeUnavailable, "The server is stopping.").Advise("Try again later.")
)

// PublicError returns the error that a client may see: a store.Error, whose cause
// is not shown, or ErrInternal.
func PublicError(err error) *store.Error {
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e
	}
	return ErrInternal
}

// RequestIDHeader names a request in its answer, over HTTPS.
const RequestIDHeader = "X-Request-Id"

// ErrorAnswer returns the JSON answer to an error of the request.
func (r *Request) ErrorAnswer(e *store.Error) store.Answer {
	id := ""
	if values := r.W.Header()[RequestIDHeader]; len(values) == 1 {
		id = values[0]
	}
	return ErrorAnswer(e, id, r.Docs)
}

// ErrorAnswer returns the JSON answer to an error. requestID names the request; docs
// is the path of the page that has a section on each code. Either may be empty.
func ErrorAnswer(e *store.Error, requestID, docs string) store.Answer {
	message := e.Text()
	if e.Field != "" {
		message = e.Field + ": " + message
	}
	if docs != "" {
		docs += "#" + string(e.Code)
	}
	body := append(make([]byte, 0, 256), `{"error":{`...)
	for i, member := range [...]struct{ name, value string }{
		{`"code":`, string(e.Code)}, {`,"message":`, message}, {`,"field":`, e.Field}, {`,"requestId":`, requestID}, {`,"docs":`, docs},
	} {
		if i < 2 || member.value != "" {
			body = store.AppendJSONString(append(body, member.name...), member.value)
		}
	}
	return JSON(e.Code.Status(), append(body, "}}"...))
}

// AnswerOf turns the result of a transaction into the answer kept under its
// Idempotency-Key: a refusal is an answer too. A fault of the server remains an
// error and is never kept.
func (r *Request) AnswerOf(a store.Answer, err error) (store.Answer, error) {
	if err == nil {
		return a, nil
	}
	if e := PublicError(err); e.Code.Status() < http.StatusInternalServerError {
		return r.ErrorAnswer(e), nil
	}
	return store.Answer{}, err
}

// setErrorHeaders sets the headers that belong to an error.
func setErrorHeaders(h http.Header, e *store.Error) {
	switch e.Code {
	case store.CodeUnauthorized:
		h["WWW-Authenticate"] = []string{"Bearer"}
	case store.CodePayloadTooLarge:
		h["Connection"] = Close
	case store.CodeUnavailable:
		h["Retry-After"] = []string{"5"} // seconds until a storage or a restarted server may be back
	}
}
