package admin

import (
	"net/http"
	"strconv"

	"teamdata/internal/web"
	"teamdata/store"
)

// send sends an answer. That a client has gone shows in no error here: there is
// nobody to tell.
func (x *exchange) send(a store.Answer) {
	h := x.w.Header()
	x.setHeaders(h)
	if a.Status != http.StatusNoContent {
		h["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
		h["Content-Type"] = []string{a.ContentType}
	}
	x.sent = true
	x.w.WriteHeader(a.Status)
	x.w.Write(a.Body)
}

// setHeaders sets what every answer carries.
func (x *exchange) setHeaders(h http.Header) {
	h["Teamdata-Version"] = []string{x.f.config.Version}
	h["Cache-Control"] = web.NoStore
	h["X-Content-Type-Options"] = web.NoSniff
}

// fail answers an error. Only a store.Error reaches the client, and only its
// code and message; any other error is internal.
func (x *exchange) fail(err error) {
	e := web.PublicError(err)
	if e.Code.Status() >= http.StatusInternalServerError {
		x.logFault(err)
	}
	h := x.w.Header()
	web.SetErrorHeaders(h, e)
	delete(h, "ETag") // of a state that was not committed
	x.send(web.ErrorAnswer(e))
}

// logFault notes a fault of the server. When the client has gone, what failed
// is the exchange, and nobody's fault.
func (x *exchange) logFault(err error) {
	if x.r.Context().Err() != nil {
		return
	}
	x.f.config.Log.Error().Err(err).Str("method", x.r.Method).Str("path", x.r.URL.Path).Msg("admin request failed")
}

// logChange notes who changed what. The path says it all but for what is in the
// body, which may hold secrets.
func (x *exchange) logChange(status int) {
	if status >= http.StatusBadRequest {
		return
	}
	line := x.f.config.Log.Info().Str("method", x.r.Method).Str("path", x.r.URL.Path).Int("status", status)
	if x.actor != "" {
		line = line.Str("actor", x.actor)
	}
	if x.token != "" {
		line = line.Str("token", x.token)
	}
	line.Msg("changed")
}

// recoverPanic answers a panic with 500.
func (x *exchange) recoverPanic() {
	if p := recover(); p != nil {
		web.Panicked(p, x.sent, x.f.config.Log.Error().Str("path", x.r.URL.Path), "admin request panicked")
		x.send(web.ErrorAnswer(web.ErrInternal))
	}
}
