package admin

import (
	"net/http"
	"strconv"

	"teamdata/internal/web"
	"teamdata/store"
)

// send sends an answer. That a client has gone shows in no error here: there is
// nobody to tell.
func (r *request) send(a store.Answer) {
	h := r.W.Header()
	r.setHeaders(h)
	if a.Status != http.StatusNoContent {
		h["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
		h["Content-Type"] = []string{a.ContentType}
	}
	r.Sent = true
	r.W.WriteHeader(a.Status)
	r.W.Write(a.Body)
}

// setHeaders sets what every answer carries.
func (r *request) setHeaders(h http.Header) {
	h["Teamdata-Version"] = []string{r.f.config.Version}
	h["Cache-Control"] = web.NoStore
	h["X-Content-Type-Options"] = web.NoSniff
}

// fail answers an error. Only a store.Error reaches the client, and only its
// code and message; any other error is internal.
func (r *request) fail(err error) {
	e := web.PublicError(err)
	if e.Code.Status() >= http.StatusInternalServerError {
		r.logFault(err)
	}
	h := r.W.Header()
	web.SetErrorHeaders(h, e)
	delete(h, "ETag") // of a state that was not committed
	r.send(web.ErrorAnswer(e))
}

// logFault notes a fault of the server. When the client has gone, what failed
// is the request, and nobody's fault.
func (r *request) logFault(err error) {
	if r.HTTP.Context().Err() != nil {
		return
	}
	r.f.config.Log.Error().Err(err).Str("method", r.HTTP.Method).Str("path", r.HTTP.URL.Path).Msg("admin request failed")
}

// logChange notes who changed what. The path says it all but for what is in the
// body, which may hold secrets.
func (r *request) logChange(status int) {
	if status >= http.StatusBadRequest {
		return
	}
	line := r.f.config.Log.Info().Str("method", r.HTTP.Method).Str("path", r.HTTP.URL.Path).Int("status", status)
	if r.actor != "" {
		line = line.Str("actor", r.actor)
	}
	if r.token != "" {
		line = line.Str("token", r.token)
	}
	line.Msg("changed")
}

// recoverPanic answers a panic with 500.
func (r *request) recoverPanic() {
	if p := recover(); p != nil {
		web.Panicked(p, r.Sent, r.f.config.Log.Error().Str("path", r.HTTP.URL.Path), "admin request panicked")
		r.send(web.ErrorAnswer(web.ErrInternal))
	}
}
