package settings

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// Fail answers an error. Somebody who is not signed in is led to the sign-in page,
// and from there back; any other error is a page that says what is wrong.
func (r *request) Fail(e *store.Error) {
	if e.Code == store.CodeUnauthorized {
		r.redirectToSignIn()
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

// redirectToSignIn leads to the sign-in page, which tells somebody who had a session
// that it has ended.
func (r *request) redirectToSignIn() {
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

// formError is an error that its form shows, because the person can fix it there.
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
