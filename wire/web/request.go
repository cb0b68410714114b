package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"teamdata/internal/hint"
	"teamdata/store"
)

// Request is one request being answered. Each API embeds it in a type of its own,
// beside what its handlers need, and calls [Serve] with that.
type Request struct {
	W       http.ResponseWriter
	HTTP    *http.Request
	Pattern string            // of its route, such as /api/v1/webhooks/:id/test; NoRoute without one
	Params  httprouter.Params // of the path
	Docs    string            // the path of the page that explains its errors; empty: none
	Status  int               // of the answer; 0: it has not begun
	Bytes   int               // of the answer's body
	router  *Router
	values  [5]string // of headers of the answer, see SetHeader
	set     int       // of values
}

// Responder is a request of one API: it embeds [Request].
type Responder interface {
	// Common is the embedded Request.
	Common() *Request
	// Fail answers an error. It decides what the client sees of it.
	Fail(e *store.Error)
	// Fault starts a log line about a fault of the server, with fields that
	// identify the request.
	Fault() *zerolog.Event
}

// Common is the request itself, for the types that embed it.
func (r *Request) Common() *Request { return r }

// Serve runs the checks in order, up to the first that fails, and then the
// handler, which returns an error or has answered. The request's Fail answers an
// error or a panic.
func Serve[R Responder](r R, checks []func(R) error, handle func(R) error) {
	defer handlePanic(r)
	for _, check := range checks {
		if err := check(r); err != nil {
			fail(r, err)
			return
		}
	}
	if err := handle(r); err != nil {
		fail(r, err)
	}
}

func fail(r Responder, err error) {
	e := LogFault(r, err)
	setErrorHeaders(r.Common().W.Header(), e)
	r.Fail(e)
}

// LogFault is PublicError, and logs an error that is a fault of the server. An error
// after the client has gone is not: the client may try again.
func LogFault(r Responder, err error) *store.Error {
	if r.Common().HTTP.Context().Err() != nil && errors.Is(err, context.Canceled) {
		err = store.Unavailable(err)
	}
	e := PublicError(err)
	if e.Code.Status() >= http.StatusInternalServerError && e != ErrStopping && r.Common().HTTP.Context().Err() == nil {
		r.Fault().Fields(hint.Fields(err)).Msg("request failed")
	}
	return e
}

// handlePanic answers a panic with 500. If the answer has already begun, it
// aborts the connection, so that a partial answer can't pass for a complete one.
func handlePanic(r Responder) {
	p := recover()
	switch p {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(p)
	}
	r.Fault().Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("request panicked")
	if r.Common().Status != 0 {
		panic(http.ErrAbortHandler)
	}
	r.Fail(ErrInternal)
}

// SetHeader sets a header of the answer. Its name keeps its case on HTTP/1. The
// first values are kept in the request, which saves an allocation each.
func (r *Request) SetHeader(name, value string) {
	if r.set == len(r.values) {
		r.W.Header()[name] = []string{value}
		return
	}
	values := r.values[r.set : r.set+1 : r.set+1]
	values[0] = value
	r.W.Header()[name] = values
	r.set++
}

// Send sends an answer whole. No cache keeps it, unless the header Cache-Control
// is set already. It returns no error: a client that has disconnected can't be
// notified.
func (r *Request) Send(a store.Answer) {
	h := r.W.Header()
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = NoStore
	}
	h["X-Content-Type-Options"] = NoSniff
	if a.ContentType != "" {
		r.SetHeader("Content-Length", strconv.Itoa(len(a.Body)))
		r.SetHeader("Content-Type", a.ContentType)
	}
	if r.HTTP.Method != http.MethodHead {
		r.Bytes = len(a.Body)
	}
	if r.HTTP.ProtoMajor == 2 && len(a.Body) <= shortAnswer {
		_ = http.NewResponseController(r.W).SetWriteDeadline(time.Now().Add(shortAnswerTimeout))
	}
	r.WriteHeader(a.Status)
	r.W.Write(a.Body)
}

// On HTTP/2 a client can request much and read nothing: a waiting answer costs
// the server more than the client. A short one must be read soon, or its stream
// is reset.
const (
	shortAnswer        = 64 << 10
	shortAnswerTimeout = 10 * time.Second
)

// WriteHeader starts an answer whose body the caller writes.
func (r *Request) WriteHeader(status int) {
	r.Status = status
	r.W.WriteHeader(status)
}

// CheckRoute is the check that a request has a route. notFound: its path is none;
// methodNotAllowed: its path has routes for other methods, which the header Allow
// names.
func (r *Request) CheckRoute() error {
	if r.HasRoute() {
		return nil
	}
	return r.router.missing(r.HTTP.URL, r.W.Header())
}

// HasRoute reports whether a request has a route. A route with an empty
// parameter, which the router accepts, doesn't count.
func (r *Request) HasRoute() bool { return r.Pattern != NoRoute && !hasEmptyParameter(r.Params) }

// Param returns a parameter of the path; empty if it has none of that name.
func (r *Request) Param(name string) string { return r.Params.ByName(name) }
