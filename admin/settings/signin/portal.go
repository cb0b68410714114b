package signin

import (
	"net/url"

	"teamdata/store"
)

// A portal session begins with a portal link. Its person has no account, and one role in one
// org. In a frame of another site it is the only kind of session that is made and that
// counts, with a cookie of its own, so that no page of an account is ever shown in a frame.

// ErrFrame refuses, in a frame, all pages but the ones of a portal.
var ErrFrame = store.Errorf(store.CodeUnauthorized, "This page is not shown in other sites.")

// framedHeader is sent by the page's script from inside a frame, where the browser
// itself doesn't say so.
const framedHeader = "Teamdata-Framed"

// Framed reports whether the page is shown in a frame, where that is allowed.
func (r *Request) Framed() bool {
	if !r.s.config.Frames || !r.secure() {
		return false
	}
	h := r.HTTP.Header
	return h.Get("Sec-Fetch-Dest") == "iframe" || h.Get("Sec-Fetch-Dest") == "empty" && h.Get(framedHeader) != ""
}

// identifyPortal is Identify for a portal session.
func (r *Request) identifyPortal(tx store.Tx) error {
	holds, err := r.Session.Portal.Holds(tx, r.Session.UserID)
	switch {
	case err != nil:
		return err
	case !holds:
		return store.Errorf(store.CodeUnauthorized, "The session has ended.")
	}
	r.Account = store.Account{UserID: r.Session.UserID, Email: r.Session.Portal.Email}
	return nil
}

// usePortalLink uses up a portal link, and signs the person in to its org.
func (r *Request) usePortalLink(l store.SignInLink) error {
	users, err := r.usersOfSignIn(l.UserID)
	if err != nil {
		return err
	}
	var cookie string
	scope := store.Scope{Orgs: []string{l.Portal.OrgID}, Users: users}
	err = r.s.store.Update(r.HTTP.Context(), scope, func(tx store.Tx) (err error) {
		if err := r.endOldSession(tx); err != nil {
			return err
		}
		r.Session, cookie, err = store.UsePortalLink(tx, r.Param("token"), r.HTTP.UserAgent())
		return err
	})
	if err != nil {
		return r.refuseLink(err)
	}
	r.newCookie = cookie
	r.setCookie(cookie)
	r.logEvent(l.UserID).Str("how", "portal link").Str("org", l.Portal.OrgID).Str("role", l.Portal.Role).Msg("settings: signed in")
	return r.Redirect(r.s.config.Path + "/orgs/" + url.PathEscape(l.Portal.OrgID))
}
