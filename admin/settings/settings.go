// Package settings is the settings page: where the owners and admins of an org
// manage its keys, webhooks and data in a browser.
//
// A request passes through one function, serve: the checks of request.go, then the
// handler of its route (routes.go). A handler does its work in one transaction,
// through View or Change, which first check the session and that the person manages
// the org of the path: a session that has ended, or a role that was lost, counts
// from the next click on. Then it renders a page (page.go) or, after a change, leads
// to one. fail.go decides how an error is shown. Package signin finds out who is signed in,
// and has the handlers of sign-ins and invitations, which see the page as a signin.Page.
//
// The pages of a noun are in the file that store has for it too; the templates have
// the same names. A new page is a line in routes.go, a handler in the file of its
// noun, and a template. Every page works without JavaScript; the scripts in assets
// add convenience.
//
// The package may import wire/…, store and internal/…, and knows the data only through
// [store.Store]; rules are functions of package store.
package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin/settings/signin"
	"teamdata/admin/settings/signin/password"
	"teamdata/store"
	"teamdata/wire/web"
)

// Path is where the pages are, and below.
const Path = "/settings"

// Config is what the settings page needs besides a store.
type Config struct {
	PublicURL string         // the origin at which people reach the server, such as https://data.example.com
	Version   string         // of the program
	Log       zerolog.Logger // sign-ins and changes at info level, faults of the server at error level

	// CurlOptions make curl trust and find the server at PublicURL, such as
	// "--cacert FILE "; empty: it does so by itself.
	CurlOptions string
	// EndpointCA is the file of the CA that endpoints with an address instead of a name
	// most likely have their certificates from; may be empty.
	EndpointCA string

	// WarnOfURL returns why nothing would be delivered to an endpoint's URL, if
	// that is known; nil or empty: unknown.
	WarnOfURL func(url string) string
	// ProxyDown reports whether webhooks wait because the proxy that they go through fails;
	// nil: there is none.
	ProxyDown func() bool
	// HeldRetention is how long deliveries of a disabled endpoint are held; 0 is
	// store.DefaultHeldRetention.
	HeldRetention time.Duration
	// RetrySchedule is how long after each unsuccessful attempt the next follows; nil is
	// store.DefaultRetrySchedule.
	RetrySchedule []time.Duration
	// TestClock returns the time of a server for tests, which each page shows; nil: the
	// server is not for tests.
	TestClock func() time.Time
	// Replaying is called after a job was started that retries deliveries; nil: nothing
	// does it.
	Replaying func()
	// Mailed is called after mail was queued; nil: there is no mail server, and
	// mail is not offered.
	Mailed func()
	// FrameAncestors are the origins of sites that may show portal sessions in a frame,
	// such as https://app.example, or self, as CheckAncestor allows them. Without any, no site
	// may. The public URL has to be HTTPS.
	FrameAncestors []string
	// Passwords hashes passwords; nil: at the best cost.
	Passwords *password.Hasher
	// Brand replaces teamdata's name, colour and logo.
	Brand Brand
}

// Settings answers the settings page from a store. Make one with New.
type Settings struct {
	store  store.Store
	config Config
	router *web.Router
	origin *http.CrossOriginProtection
	signin *signin.Service
	assets func() assetList // made for the first page
}

// New makes the settings page of a store, which stays the caller's to close.
func New(s store.Store, c Config) *Settings {
	st := &Settings{store: s, config: c, origin: http.NewCrossOriginProtection()}
	if c.RetrySchedule == nil {
		st.config.RetrySchedule = store.DefaultRetrySchedule
	}
	st.config.HeldRetention = cmp.Or(c.HeldRetention, store.DefaultHeldRetention)
	st.config.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	public, err := url.Parse(c.PublicURL)
	if err != nil {
		public = &url.URL{}
	}
	st.signin = signin.New(s, signin.Config{
		Path: Path, PublicURL: public, Log: c.Log, Mailed: c.Mailed, Frames: len(c.FrameAncestors) > 0, Passwords: c.Passwords,
	})
	st.assets = sync.OnceValue(func() assetList { return loadAssets(c.Brand) })
	st.router = web.NewRouter(Path, "", routes, (*route).pattern, st.serve)
	return st
}

// ServeHTTP answers what is at Path and below.
func (s *Settings) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.router.ServeHTTP(w, r) }

// LinkURL returns the address of sign-in links below a public URL; nil if none is
// known.
func LinkURL(publicURL string) func(token string) string {
	if publicURL == "" {
		return nil
	}
	return func(token string) string { return strings.TrimSuffix(publicURL, "/") + Path + "/link/" + token }
}

func (s *Settings) proxyDown() bool { return s.config.ProxyDown != nil && s.config.ProxyDown() }
