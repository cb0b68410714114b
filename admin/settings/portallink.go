package settings

import (
	"fmt"
	"regexp"
	"strings"

	"teamdata/admin/settings/signin"
	"teamdata/internal/hint"
	"teamdata/store"
)

// originForm is the form of an origin in Config.FrameAncestors: it has no character with a
// meaning of its own in a Content-Security-Policy.
var originForm = regexp.MustCompile(`^https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)

// CheckAncestor checks an origin that may show the page in a frame: one over HTTPS, or
// self for the page's own.
func CheckAncestor(origin string) error {
	if origin == "self" || origin == "'self'" || originForm.MatchString(origin) {
		return nil
	}
	return hint.New(fmt.Sprintf("%.80q is not an origin", origin), "give the scheme and host of the site alone, in lower case, such as https://app.example, or self")
}

// inPortal reports whether the route is there for portal sessions.
func (r *request) inPortal() bool { return r.route != nil && r.route.access != noPortal }

var (
	errPortalMembers = store.Errorf(store.CodeForbidden, "The members of this org come from the application that led you here.").Advise("Invite, change or remove them there.")

	errPortal = store.Errorf(store.CodeForbidden, "You came here from another application, and have no account on this server.").Advise("Sign out, then sign in with an account.")
)

// checkFrame refuses, in a frame, all pages but the ones of a portal.
func (r *request) checkFrame() error {
	if r.Framed() && !r.inPortal() {
		return signin.ErrFrame
	}
	return nil
}

// leadBack asks a person in a frame to open the page again where the frame is.
func (r *request) leadBack(status int) {
	r.Account, r.Org = store.Account{}, store.Org{}
	if err := r.Render(status, "portal_over", nil); err != nil {
		r.Fault().Err(err).Msg("the page for a frame can't be rendered")
	}
}

// ancestors are the sites that may show the page in a frame, as the
// Content-Security-Policy has them.
func (r *request) ancestors() string {
	if !r.Framed() {
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
