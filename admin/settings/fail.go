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
func (v *visit) fail(err error) {
	e := web.PublicError(err)
	v.logFault(e, err)
	if e.Code == store.CodeUnauthorized {
		v.askToSignIn()
		return
	}
	web.SetErrorHeaders(v.w.Header(), e)
	v.renderError(e)
}

// logFault notes a fault of the server, which is none when the browser has gone.
func (v *visit) logFault(e *store.Error, err error) {
	if e.Code.Status() >= http.StatusInternalServerError && v.r.Context().Err() == nil {
		v.s.config.Log.Error().Err(err).Str("method", v.r.Method).Str("route", v.pattern()).Msg("settings: a request failed")
	}
}

// askToSignIn says why, to who had a session.
func (v *visit) askToSignIn() {
	query := url.Values{}
	if v.cookie() != "" {
		v.setCookie("")
		query.Set("done", "session-ended")
	}
	if v.r.Method == http.MethodGet && v.r.URL.Path != Path {
		query.Set("next", v.r.URL.RequestURI())
	}
	path := Path + "/sign-in"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	v.redirect(path)
}

// renderError is the page of an error.
func (v *visit) renderError(e *store.Error) {
	if err := v.render(e.Code.Status(), "error", e); err != nil {
		v.s.config.Log.Error().Err(err).Msg("settings: the page of an error can't be rendered")
	}
}

// pattern is the path of the route: the path itself may hold a token.
func (v *visit) pattern() string {
	if v.route == nil {
		return "none"
	}
	return Path + v.route.path
}

// recoverPanic answers a panic with 500.
func (v *visit) recoverPanic() {
	if p := recover(); p != nil {
		web.Panicked(p, v.sent, v.s.config.Log.Error().Str("route", v.pattern()), "settings: a request panicked")
		v.renderError(web.ErrInternal)
	}
}

// formError is an error that belongs to a form: what the person can mend there.
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
