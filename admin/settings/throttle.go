package settings

import (
	"crypto/sha256"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/store"
)

// How often somebody may try a password within attemptWindow. Attempts count, not
// failures, and they count before the password is checked, so that parallel
// attempts gain nothing.
//
// Anyone who knows the name of an account could lock its owner out by wrong
// attempts. So the limit of a name is low for each client and high for all
// clients together, and a browser that signed in to the account before is counted
// separately. Passkeys and sign-in links have no limit by name, and sessions
// continue.
const (
	attemptWindow    = 15 * time.Minute
	attemptsOfOne    = 10 // for one name, by one client or one known browser
	attemptsOfName   = 50 // for one name, by all
	attemptsOfClient = 50 // for all names: many people may share an address

	mailsOfName = 3 // sign-in links by mail, for one name
)

// siteFactor is how many times the attempts of one client an IPv6 /48 gets: it is
// the usual allocation of a site, with 65,536 clients.
const siteFactor = 4

// maxTracked bounds the memory of each limit: the number of names or clients that
// it remembers.
const maxTracked = 20_000

// throttle slows down guessing.
type throttle struct {
	audit  *ratelimit.Limiter[strangerEntry]
	client clientLimiter
	one    clientLimiter
	name   *ratelimit.Limiter[nameHash]
	known  *ratelimit.Limiter[string] // by the value of the browser's cookie
	mail   *ratelimit.Limiter[nameHash]
}

// nameHash represents a name as typed, of any length, whether or not there is
// such an account.
type nameHash [sha256.Size]byte

func hashName(name string) nameHash {
	return sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(name))))
}

type clientAttempt struct {
	network netip.Prefix
	name    nameHash // zero in a limit of all names
}

// clientLimiter limits each client and its IPv6 /48.
type clientLimiter struct {
	client, site *ratelimit.Limiter[clientAttempt]
}

func newClientLimiter(limit int, window time.Duration) clientLimiter {
	return clientLimiter{
		client: ratelimit.New[clientAttempt](limit, window, maxTracked),
		site:   ratelimit.New[clientAttempt](siteFactor*limit, window, maxTracked),
	}
}

// take counts an attempt. What a client is refused does not count for its site.
func (l clientLimiter) take(from netip.Addr, name nameHash, now time.Time) ratelimit.Decision {
	d := l.client.Take(clientAttempt{ratelimit.ClientKey(from), name}, now)
	if from = from.Unmap().WithZone(""); !d.OK || !from.Is6() {
		return d
	}
	site, _ := from.Prefix(48)
	return l.site.Take(clientAttempt{site, name}, now)
}

// strangerEntry is an entry of the audit log that a stranger caused.
type strangerEntry struct{ userID, action string }

func newThrottle() throttle {
	return throttle{
		audit:  ratelimit.New[strangerEntry](1, time.Hour, maxTracked),
		client: newClientLimiter(attemptsOfClient, attemptWindow),
		one:    newClientLimiter(attemptsOfOne, attemptWindow),
		name:   ratelimit.New[nameHash](attemptsOfName, attemptWindow, maxTracked),
		known:  ratelimit.New[string](attemptsOfOne, attemptWindow, maxTracked),
		mail:   ratelimit.New[nameHash](mailsOfName, attemptWindow, maxTracked),
	}
}

// tryClient counts an attempt of the client. rateLimited: it has had too many.
func (r *request) tryClient() error {
	return r.allowed(r.s.throttle.client.take(r.address(), nameHash{}, r.now))
}

// tryName is tryClient for an attempt with a name, which is that of an account or of
// none.
func (r *request) tryName(name string, a store.Account) error {
	if browser := r.knownBrowser(a); browser != "" {
		return r.allowed(r.s.throttle.known.Take(browser, r.now))
	}
	if err := r.tryClient(); err != nil {
		return err
	}
	t, hash := &r.s.throttle, hashName(name)
	if err := r.allowed(t.one.take(r.address(), hash, r.now)); err != nil {
		return err
	}
	return r.allowed(t.name.Take(hash, r.now))
}

func (r *request) allowed(d ratelimit.Decision) error {
	if d.OK {
		return nil
	}
	r.W.Header().Set("Retry-After", strconv.Itoa(ratelimit.Seconds(d.RetryAfter)))
	at := r.now.Add(d.RetryAfter).Truncate(time.Minute).Add(time.Minute)
	return store.Errorf(store.CodeRateLimited, "Too many attempts.").Advise("Try again at %s.", at.UTC().Format("15:04 UTC"))
}

// address is the client's address; invalid when there is none.
func (r *request) address() netip.Addr {
	at, err := netip.ParseAddrPort(r.HTTP.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}
