package settings

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"teamdata/internal/hint"
	"teamdata/store"
)

// A portal session is one that a portal link began: of a person without an account, in
// one org, with one role. In a frame of a site of Config.FrameAncestors it is the only
// kind that is made and that counts, with a cookie of its own, so that no page of an
// account is ever shown in a frame.

// originForm is that of Config.FrameAncestors: nothing that has a meaning of its own in a
// Content-Security-Policy.
var originForm = regexp.MustCompile(`^https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)

// CheckAncestor checks an origin that may show the page in a frame: one over HTTPS, or
// self for the page's own.
func CheckAncestor(origin string) error {
	if origin == "self" || origin == "'self'" || originForm.MatchString(origin) {
		return nil
	}
	return hint.New(fmt.Sprintf("%.80q is no origin", origin), "give the scheme and host of the site alone, in lower case, such as https://app.example, or self")
}

// framedHeader is sent by the page's script from inside a frame, where the browser
// itself doesn't say so.
const framedHeader = "Teamdata-Framed"

// framed reports whether the page is shown in a frame, where that is allowed.
func (r *request) framed() bool {
	if len(r.s.config.FrameAncestors) == 0 || !r.s.secure {
		return false
	}
	h := r.HTTP.Header
	return h.Get("Sec-Fetch-Dest") == "iframe" || h.Get("Sec-Fetch-Dest") == "empty" && h.Get(framedHeader) != ""
}

// portalPages are the routes outside of orgs that a portal session has.
var portalPages = []string{"", "/assets/:name", "/link/:token", "/orgs", "/sign-out", "/account/theme"}

// inPortal reports whether the route is there for portal sessions.
func (r *request) inPortal() bool {
	path := strings.TrimPrefix(r.Pattern, Path)
	return slices.Contains(portalPages, path) || path == "/orgs/:org" || strings.HasPrefix(path, "/orgs/:org/")
}

// changesMembers reports whether the route changes who the org's members are. That would
// outlast a portal session, and give people accounts that it has none of.
func (r *request) changesMembers() bool {
	path := strings.TrimPrefix(r.Pattern, Path)
	return path == "/orgs/:org/new-member" || strings.HasPrefix(path, "/orgs/:org/members/:member/")
}

var (
	errPortalMembers = store.Errorf(store.CodeForbidden, "The members of this org come from the application that led you here.").Advise("Invite, change or remove them there.")

	errPortal = store.Errorf(store.CodeForbidden, "You came here from another application, and have no account on this server.").Advise("Sign out to sign in to one.")
	errFrame  = store.Errorf(store.CodeUnauthorized, "This page is not shown in other sites.")
)

// checkFrame refuses what is not part of a portal in a frame.
func (r *request) checkFrame() error {
	if r.framed() && !r.inPortal() {
		return errFrame
	}
	return nil
}

// identifyPortal is identify for a portal session. unauthorized: it no longer holds;
// forbidden: the route is for people with an account.
func (r *request) identifyPortal(tx store.Tx) error {
	holds, err := r.session.Portal.Holds(tx, r.session.UserID)
	switch {
	case err != nil:
		return err
	case !holds:
		return store.Errorf(store.CodeUnauthorized, "The session has ended.")
	}
	r.account = store.Account{UserID: r.session.UserID, Email: r.session.Portal.Email}
	if !r.inPortal() {
		return errPortal
	}
	return nil
}

// usePortalLink uses up a portal link, and signs the person in to its org.
func (r *request) usePortalLink(l store.SignInLink) error {
	users, err := r.withSignedIn(l.UserID)
	if err != nil {
		return err
	}
	var cookie string
	scope := store.Scope{Orgs: []string{l.Portal.OrgID}, Users: users}
	err = r.s.store.Update(r.HTTP.Context(), scope, func(tx store.Tx) (err error) {
		if err := r.endOldSession(tx); err != nil {
			return err
		}
		r.session, cookie, err = store.UsePortalLink(tx, r.Param("token"), r.HTTP.UserAgent())
		return err
	})
	if err != nil {
		return r.linkRefused(err)
	}
	r.newCookie = cookie
	r.setCookie(cookie)
	r.logEvent(l.UserID).Str("how", "portal link").Str("org", l.Portal.OrgID).Str("role", l.Portal.Role).Msg("settings: signed in")
	return r.redirect(orgPath(l.Portal.OrgID))
}

// leadBack asks a person in a frame to open the page again where the frame is.
func (r *request) leadBack(status int) {
	delete(r.W.Header(), "WWW-Authenticate") // it is for programs
	r.account, r.org = store.Account{}, store.Org{}
	if err := r.render(status, "portal_over", nil); err != nil {
		r.Fault().Err(err).Msg("the page for a frame can't be rendered")
	}
}

// ancestors are the sites that may show the page in a frame, as the
// Content-Security-Policy has them.
func (r *request) ancestors() string {
	if !r.framed() {
		return "'none'"
	}
	var sources []string
	for _, origin := range r.s.config.FrameAncestors {
		if origin == "self" {
			origin = "'self'"
		}
		sources = append(sources, origin)
	}
	return strings.Join(sources, " ")
}

// sameSite is how the browser limits a cookie to its own site. In a frame of another
// site it is sent there too, but only in frames of that site.
func (r *request) sameSite(c *http.Cookie) {
	c.SameSite = http.SameSiteLaxMode
	if r.framed() {
		c.SameSite, c.Partitioned = http.SameSiteNoneMode, true
	}
}
