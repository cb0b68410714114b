package settings

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// Fail answers an error: who is not signed in is asked to, and comes back to
// where that was; all else is a page that says what is wrong.
func (r *request) Fail(e *store.Error) {
	if e.Code == store.CodeUnauthorized {
		r.askToSignIn()
		return
	}
	if err := r.render(e.Code.Status(), "error", e); err != nil {
		r.Fault().Err(err).Msg("the page of an error can't be rendered")
	}
}

// Fault begins the log's line about a fault of the server: without the path, which
// may hold a token.
func (r *request) Fault() *zerolog.Event {
	return r.s.config.Log.Error().Str("api", "settings").Str("method", r.HTTP.Method).Str("route", r.Pattern)
}

// askToSignIn says why, to who had a session.
func (r *request) askToSignIn() {
	delete(r.W.Header(), "WWW-Authenticate") // it is for programs
	query := url.Values{}
	if r.cookie() != "" {
		r.setCookie("")
		query.Set("done", "session-ended")
	}
	if r.HTTP.Method == http.MethodGet && r.HTTP.URL.Path != Path {
		query.Set("next", r.HTTP.URL.RequestURI())
	}
	path := Path + "/sign-in"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r.redirect(path)
}

// formError is an error that belongs to a form: what the person can fix there.
// Any other is none of the form's.
func formError(err error) (*store.Error, bool) {
	var e *store.Error
	if !errors.As(err, &e) {
		return nil, false
	}
	switch e.Code {
	case store.CodeBadRequest, store.CodeConflict, store.CodeUpgradeRequired, store.CodeRateLimited:
		return e, true
	}
	return nil, false
}
