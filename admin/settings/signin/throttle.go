package signin

import (
	"context"
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

	mailsToOne    = 3  // sign-in links by mail, to one address
	mailsOfSender = 30 // by one person who invites
	mailsOfOrg    = 60 // by all of an org
)

// siteFactor is how many times the attempts of one client an IPv6 /48 gets, the usual
// allocation of a site with 65,536 clients.
const siteFactor = 4

// maxTracked bounds the memory of each limit: the number of names or clients that
// it remembers.
const maxTracked = 20_000

// throttle slows down guessing. All limits but audit are shared by all nodes. audit is
// asked only about accounts that exist, and must not take longer then.
type throttle struct {
	audit  *ratelimit.Limiter[strangerEntry]
	client clientLimiter
	one    clientLimiter
	name   store.Limiter // by hashOf
	known  store.Limiter // by hashOf the value of the browser's cookie
	mail   store.Limiter // by hashOf the address
	sender store.Limiter // of mail, by user id
	org    store.Limiter // of mail, by org id

	ceremony clientLimiter
}

// hashOf represents a name as typed, of any length, whether or not there is such an
// account. The limits know only the hash, so that the database doesn't give away what was
// typed.
func hashOf(name string) string {
	hash := sha256.Sum256([]byte(strings.ToLower(store.ASCIIAddress(strings.TrimSpace(name)))))
	return string(hash[:])
}

// clientLimiter limits each client and its IPv6 /48.
type clientLimiter struct{ client, site store.Limiter }

func newClientLimiter(s store.Coordination, name string, limit int, window time.Duration) clientLimiter {
	return clientLimiter{
		client: newLimiter(s, name+" of a client", limit, window),
		site:   newLimiter(s, name+" of a site", siteFactor*limit, window),
	}
}

func newLimiter(s store.Coordination, name string, limit int, window time.Duration) store.Limiter {
	return s.Limiter(store.Limit{Name: name, Max: limit, Window: window, Tracked: maxTracked})
}

// take counts an attempt with a name, by its hash; empty in a limit of all names. What
// a client is refused does not count for its site.
func (l clientLimiter) take(ctx context.Context, from netip.Addr, name string, now time.Time) (ratelimit.Decision, error) {
	d, err := l.client.Take(ctx, ratelimit.ClientKey(from).String()+name, now)
	if from = from.Unmap().WithZone(""); err != nil || !d.OK || !from.Is6() {
		return d, err
	}
	site, _ := from.Prefix(48)
	return l.site.Take(ctx, site.String()+name, now)
}

// strangerEntry is an entry of the audit log that a stranger caused.
type strangerEntry struct{ userID, action string }

func newThrottle(s store.Coordination) throttle {
	return throttle{
		audit:  ratelimit.New[strangerEntry](1, time.Hour, maxTracked),
		client: newClientLimiter(s, "sign-in", attemptsOfClient, attemptWindow),
		one:    newClientLimiter(s, "name", attemptsOfOne, attemptWindow),
		name:   newLimiter(s, "name", attemptsOfName, attemptWindow),
		known:  newLimiter(s, "known browser", attemptsOfOne, attemptWindow),
		mail:   newLimiter(s, "mail", mailsToOne, attemptWindow),
		sender: newLimiter(s, "mail of a sender", mailsOfSender, attemptWindow),
		org:    newLimiter(s, "mail of an org", mailsOfOrg, attemptWindow),

		ceremony: newClientLimiter(s, "passkey", ceremonyRequests, ceremonyTTL),
	}
}

// tryClient counts an attempt of the client. rateLimited: it has had too many.
func (r *Request) tryClient() error {
	return r.limitError(r.s.throttle.client.take(r.HTTP.Context(), r.clientAddress(), "", r.Now))
}

// tryCeremony counts the begin or the end of a ceremony. rateLimited: the client has had
// too many.
func (r *Request) tryCeremony() error {
	return r.limitError(r.s.throttle.ceremony.take(r.HTTP.Context(), r.clientAddress(), "", r.Now))
}

// tryName is tryClient for an attempt with a name, which is that of an account or of
// none.
func (r *Request) tryName(name string, a store.Account) error {
	ctx := r.HTTP.Context()
	if browser := r.knownBrowser(a); browser != "" {
		return r.limitError(r.s.throttle.known.Take(ctx, hashOf(browser), r.Now))
	}
	if err := r.tryClient(); err != nil {
		return err
	}
	t, hash := &r.s.throttle, hashOf(name)
	if err := r.limitError(t.one.take(ctx, r.clientAddress(), hash, r.Now)); err != nil {
		return err
	}
	return r.limitError(t.name.Take(ctx, hash, r.Now))
}

// TryMail counts a mail to an address that a person has entered for an org. rateLimited:
// the address had too many lately, or the person or the org has sent too many. Without mail
// it counts too, because an invitation tells which sign-in names are taken.
func (r *Request) TryMail(orgID, email string) error {
	ctx, t := r.HTTP.Context(), &r.s.throttle
	if err := r.limitError(t.sender.Take(ctx, r.Account.UserID, r.Now)); err != nil {
		return err
	}
	if err := r.limitError(t.org.Take(ctx, orgID, r.Now)); err != nil {
		return err
	}
	if r.s.config.Mailed == nil {
		return nil
	}
	return r.limitError(t.mail.Take(ctx, hashOf(email), r.Now))
}

// limitError is the error for a decision of a limiter: rateLimited, unavailable, or nil.
func (r *Request) limitError(d ratelimit.Decision, err error) error {
	if d.OK || err != nil {
		return err
	}
	r.W.Header().Set("Retry-After", strconv.Itoa(ratelimit.Seconds(d.RetryAfter)))
	at := r.Now.Add(d.RetryAfter).Truncate(time.Minute).Add(time.Minute)
	return store.Errorf(store.CodeRateLimited, "Too many attempts.").Advise("Try again at %s.", at.UTC().Format("15:04 UTC"))
}

// clientAddress is the client's address; invalid if it is not known.
func (r *Request) clientAddress() netip.Addr {
	at, _ := netip.ParseAddrPort(r.HTTP.RemoteAddr)
	return at.Addr()
}
