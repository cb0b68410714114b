package teamdata

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Codes of errors. There may be more of them.
const (
	CodeBadRequest          = "badRequest"
	CodeUnauthorized        = "unauthorized"
	CodeUpgradeRequired     = "upgradeRequired"
	CodeForbidden           = "forbidden"
	CodeNotFound            = "notFound"
	CodeMethodNotAllowed    = "methodNotAllowed"
	CodeConflict            = "conflict"
	CodePreconditionFailed  = "preconditionFailed"
	CodePayloadTooLarge     = "payloadTooLarge"
	CodeIdempotencyMismatch = "idempotencyMismatch"
	CodeRateLimited         = "rateLimited"
	CodeInternal            = "internal"
	CodeUnavailable         = "unavailable"
)

// ErrNoAnswer is in the error of a request whose answer did not arrive. The request may
// have been executed.
var ErrNoAnswer = errors.New("no answer")

// Error is an answer that is not a success. Find it in an error with errors.AsType:
//
//	if refused, ok := errors.AsType[*teamdata.Error](err); ok && refused.Code == teamdata.CodeConflict {
type Error struct {
	Status     int           // of HTTP
	Code       string        // what programs check; empty if something between answered, such as a proxy
	Message    string        // what people read; its wording may change
	Field      string        // the parameter, header or field that is wrong; empty if there is none
	RequestID  string        // quote it when you ask the operator about the request
	Docs       string        // the URL that describes the code
	RetryAfter time.Duration // how long to wait before trying again; 0 if the server does not say
	Header     http.Header   // of the answer
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
	if e.Code == "" {
		text = fmt.Sprintf("%d %s", e.Status, e.Message)
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// errorOf reads an answer that is not a success, from a URL.
func errorOf(response *http.Response, from *url.URL) *Error {
	e := &Error{Status: response.StatusCode, Header: response.Header, RequestID: response.Header.Get("X-Request-Id")}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	var body struct {
		Error struct{ Code, Message, Field, RequestID, Docs string }
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil || json.Unmarshal(content, &body) != nil || body.Error.Code == "" {
		e.Message = http.StatusText(response.StatusCode)
		return e
	}
	e.Code, e.Message, e.Field = body.Error.Code, body.Error.Message, body.Error.Field
	e.RequestID = cmp.Or(body.Error.RequestID, e.RequestID)
	if docs, err := from.Parse(body.Error.Docs); err == nil && body.Error.Docs != "" {
		e.Docs = docs.String()
	}
	return e
}
