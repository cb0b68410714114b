package settings

import (
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// Fail answers an error. A person who is not signed in is redirected to the
// sign-in page, and from there back; any other error is shown as a page.
func (r *request) Fail(e *store.Error) {
	switch e.Code {
	case store.CodeUnauthorized:
		delete(r.W.Header(), "WWW-Authenticate") // it is for programs
		if r.Framed() {
			r.leadBack(e.Code.Status())
		} else {
			r.leadToSignIn()
		}
		return
	case store.CodeNotFound:
		r.findAround()
	}
	if err := r.Render(e.Code.Status(), "error", e); err != nil {
		r.Fault().Err(err).Msg("the page of an error can't be rendered")
	}
}

// errorTitle is the title of the page that shows an error.
func errorTitle(e *store.Error) string {
	switch {
	case e == errViewer:
		return "Only owners and admins can do that"
	case e.Code == store.CodeForbidden:
		return "You can’t do that here"
	case e.Code == store.CodeNotFound:
		return "Page not found"
	}
	return "Something went wrong"
}

// findAround finds who is signed in, and the org of a path without a page, so that the
// navigation stays there.
func (r *request) findAround() {
	if r.Org.ID != "" {
		return
	}
	below, _ := strings.CutPrefix(r.HTTP.URL.Path, Path+"/orgs/")
	id, _, _ := strings.Cut(below, "/")
	err := r.View(func(tx store.Tx) error {
		if slices.ContainsFunc(r.orgs, func(o store.Org) bool { return o.ID == id }) {
			return r.EnterOrg(tx, id)
		}
		return nil
	})
	if err != nil {
		r.Org = store.Org{} // the page goes without
	}
}

// Fault begins the log's line about a fault of the server: without the path, which
// may hold a token.
func (r *request) Fault() *zerolog.Event {
	return r.s.config.Log.Error().Str("api", "settings").Str("method", r.HTTP.Method).Str("route", r.Pattern)
}

// leadToSignIn redirects to the sign-in page, or answers with it when the request
// is a form with text, which that page then carries.
func (r *request) leadToSignIn() {
	sealed := r.sealDraft()
	if sealed == "" {
		r.redirectToSignIn()
		return
	}
	r.ForgetSession()
	r.noticeName = "draft-carried"
	if err := r.SignInAgain(sealed); err != nil {
		r.Fault().Err(err).Msg("the sign-in page can't be rendered")
	}
}

// redirectToSignIn redirects to the sign-in page, which informs a person who had
// a session that it has ended.
func (r *request) redirectToSignIn() {
	var done, next string
	if r.ForgetSession() {
		done = "session-ended"
	}
	if r.HTTP.Method == http.MethodGet && r.HTTP.URL.Path != Path {
		next = r.HTTP.URL.RequestURI()
	}
	r.Redirect(withQuery(Path+"/sign-in", "done", done, "next", next))
}
