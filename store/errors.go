package store

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Code is the machine-readable part of an error, which clients check.
type Code string

// The codes of the contract, and those it leaves open.
const (
	CodeBadRequest          Code = "badRequest"
	CodeUnauthorized        Code = "unauthorized"
	CodeUpgradeRequired     Code = "upgradeRequired"
	CodeForbidden           Code = "forbidden"
	CodeNotFound            Code = "notFound"
	CodeMethodNotAllowed    Code = "methodNotAllowed"
	CodeConflict            Code = "conflict"
	CodePreconditionFailed  Code = "preconditionFailed"
	CodePayloadTooLarge     Code = "payloadTooLarge"
	CodeIdempotencyMismatch Code = "idempotencyMismatch"
	CodeRateLimited         Code = "rateLimited"
	CodeInternal            Code = "internal"
	CodeUnavailable         Code = "unavailable"
)

// CodeFenced is the code of an Update whose [Fence] holds no more. It concerns no
// client, and is not among Codes.
const CodeFenced Code = "fenced"

// CodeInfo describes how a code is answered.
type CodeInfo struct {
	Code   Code
	Status int    // HTTP status
	Doc    string // when it is answered, in the words of docs/errors.md
}

// Codes is every code with its status, in order of status. A test compares
// docs/errors.md with it.
var Codes = []CodeInfo{
	{CodeBadRequest, http.StatusBadRequest, "A query parameter, a header or the body is not valid, or the `API-Version` is unknown."},
	{CodeUnauthorized, http.StatusUnauthorized, "The API key is missing, malformed, unknown, wrong, revoked or expired, or its creator may no longer manage keys."},
	{CodeUpgradeRequired, http.StatusPaymentRequired, "The org's plan does not include the API or this route."},
	{CodeForbidden, http.StatusForbidden, "The API key lacks the scope that the route needs, or may not pull from this endpoint."},
	{CodeNotFound, http.StatusNotFound, "There is no such route, or no such resource in the org."},
	{CodeMethodNotAllowed, http.StatusMethodNotAllowed, "The route exists, but not for this method; `Allow` lists the methods that it accepts."},
	{CodeConflict, http.StatusConflict, "The resource is in a state that does not allow the action, such as a lease that has ended, or a request with the same `Idempotency-Key` is still running."},
	{CodePreconditionFailed, http.StatusPreconditionFailed, "`If-Match` does not match the resource: somebody changed it meanwhile."},
	{CodePayloadTooLarge, http.StatusRequestEntityTooLarge, "The request body is larger than the route accepts: 64 KiB, or the limit in the admin API's description."},
	{CodeIdempotencyMismatch, http.StatusUnprocessableEntity, "The `Idempotency-Key` was used with a different request."},
	{CodeRateLimited, http.StatusTooManyRequests, "Over the rate limit of the client or of the key; `Retry-After` gives the seconds to wait."},
	{CodeInternal, http.StatusInternalServerError, "Something went wrong in the server; it is in the server's log."},
	{CodeUnavailable, http.StatusServiceUnavailable, "The server is stopping or its storage can't commit; `Retry-After` gives the seconds to wait."},
}

// Status returns the HTTP status of the code; 500 for a code not in Codes.
func (c Code) Status() int {
	for i := range Codes {
		if Codes[i].Code == c {
			return Codes[i].Status
		}
	}
	return http.StatusInternalServerError
}

// Error is an error that a client may see: Code, Message and Advice reach it, Field
// names the place in its input, and Err is the cause, which is not shown.
type Error struct {
	Code    Code
	Message string // what is wrong; either a sentence, or the rest of one that Field begins
	Advice  string // what to do about it, or what is allowed; empty: Message covers it
	Field   string
	Err     error
}

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes a badRequest that names the field.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeBadRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Unavailable wraps a storage fault: nothing was written, and a retry may succeed.
func Unavailable(err error) *Error {
	return &Error{Code: CodeUnavailable, Message: "The storage can't be used right now.", Advice: "Try again later.", Err: err}
}

// Advise sets the Advice of a new error and returns it.
func (e *Error) Advise(format string, args ...any) *Error {
	e.Advice = fmt.Sprintf(format, args...)
	return e
}

// Text returns the text shown to people: Message, then Advice as a separate
// sentence or after a semicolon.
func (e *Error) Text() string {
	switch {
	case e.Advice == "":
		return e.Message
	case strings.HasSuffix(e.Message, "."):
		return e.Message + " " + e.Advice
	}
	return e.Message + "; " + e.Advice
}

// Error returns Text with Field and Err around it.
func (e *Error) Error() string {
	text := e.Text()
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Hint returns the advice that Error's text ends with: that of Err, if it gives any,
// or else Advice.
func (e *Error) Hint() string {
	var cause interface{ Hint() string }
	if errors.As(e.Err, &cause) && cause.Hint() != "" {
		return cause.Hint()
	}
	return e.Advice
}

// CodeOf returns the code of the outermost Error in err's chain, internal if
// there is none, and empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// IsNotFound reports whether err means that a record does not exist.
func IsNotFound(err error) bool { return CodeOf(err) == CodeNotFound }
