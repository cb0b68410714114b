// Package signin is how people get in to the settings page, and stay signed in: sessions and
// their cookies, passwords, passkeys, invitations, sign-in links and portal links, and the limits
// against guessing.
//
// It knows nothing of the pages around it. The settings page embeds [Request] in its own
// request, so its routes lead straight to the handlers here. What they need of the page
// is the interface [Page]: rendering, and transactions that first check who sent the
// request. Their templates are with the others, in admin/settings/templates, and tests
// that go through the pages are in admin/settings.
//
// The package may import wire/web, store and internal/….
package signin

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/rs/zerolog"

	"teamdata/admin/settings/signin/password"
	"teamdata/store"
)

// Config is what signing in needs besides a store.
type Config struct {
	Path      string           // where the settings page is
	PublicURL *url.URL         // at which people reach it
	Log       zerolog.Logger   // sign-ins at info level
	Mailed    func()           // is called after mail was queued; nil: there is no mail server
	Frames    bool             // portal sessions may be shown in frames of other sites; needs HTTPS
	Passwords *password.Hasher // nil: one of the best cost
}

// Service is what all requests have in common. Make one with New.
type Service struct {
	store      store.Store
	config     Config
	secure     bool // the public URL is an HTTPS one
	passwords  *password.Hasher
	throttle   throttle
	passkeys   *webauthn.WebAuthn // nil: browsers have none for this URL
	background sync.WaitGroup     // work that is done after the answer
}

// New makes the sign-in of a settings page on a store, which stays the caller's to close.
func New(s store.Store, c Config) *Service {
	if c.Passwords == nil {
		c.Passwords = password.New(password.Best())
	}
	return &Service{
		store: s, config: c, secure: c.PublicURL.Scheme == "https", passwords: c.Passwords,
		throttle: newThrottle(s), passkeys: newPasskeys(c.PublicURL),
	}
}

// Wait waits until the work in the background is done.
func (s *Service) Wait() { s.background.Wait() }

// backgroundTimeout is how long work in the background may take.
const backgroundTimeout = 30 * time.Second

// inBackground changes the data after the answer, so that no client waits for it
// or can measure how long it took, and then calls done. A failure is only logged.
func (r *Request) inBackground(what string, change func(ctx context.Context, s store.Store) error, done func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.HTTP.Context()), backgroundTimeout)
	r.s.background.Go(func() {
		defer cancel()
		if err := change(ctx, r.s.store); err != nil {
			r.s.config.Log.Warn().Err(err).Str("what", what).Msg("settings: this could not be done")
			return
		}
		done()
	})
}
