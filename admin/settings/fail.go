package settings

import (
	"errors"
	"net/http"
	"net/url"

	"teamdata/internal/web"
	"teamdata/store"
)

// fail answers an error: who is not signed in is asked to, and comes back to
// where that was; all else is a page that says what is wrong. Only a store.Error
// is shown, and only its message; any other error is internal.
func (r *request) fail(err error) {
	e := web.PublicError(err)
	r.logFault(e, err)
	if e.Code == store.CodeUnauthorized {
		r.askToSignIn()
		return
	}
	web.SetErrorHeaders(r.W.Header(), e)
	r.renderError(e)
}

// logFault notes a fault of the server, which is none when the browser has gone.
func (r *request) logFault(e *store.Error, err error) {
	if e.Code.Status() >= http.StatusInternalServerError && r.HTTP.Context().Err() == nil {
		r.s.config.Log.Error().Err(err).Str("method", r.HTTP.Method).Str("route", r.pattern()).Msg("settings: a request failed")
	}
}

// askToSignIn says why, to who had a session.
func (r *request) askToSignIn() {
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

// renderError is the page of an error.
func (r *request) renderError(e *store.Error) {
	if err := r.render(e.Code.Status(), "error", e); err != nil {
		r.s.config.Log.Error().Err(err).Msg("settings: the page of an error can't be rendered")
	}
}

// pattern is the path of the route: the path itself may hold a token.
func (r *request) pattern() string {
	if r.route == nil {
		return "none"
	}
	return Path + r.route.path
}

// recoverPanic answers a panic with 500.
func (r *request) recoverPanic() {
	if p := recover(); p != nil {
		web.Panicked(p, r.Sent, r.s.config.Log.Error().Str("route", r.pattern()), "settings: a request panicked")
		r.renderError(web.ErrInternal)
	}
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
