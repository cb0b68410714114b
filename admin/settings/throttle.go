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

// How often somebody may try a password, within tryWindow. Tries count, and not
// failures, and they count before a password is searchResult at: many at once gain
// nothing.
//
// Who knows the name of an account could keep its owner out by wrong tries. So a
// name is narrowly limited for each client alone, and in all only where many
// clients guess together; passkeys and sign-in links have no limit by name at all,
// and sessions that are there go on.
const (
	tryWindow     = 15 * time.Minute
	triesOfOne    = 10 // for one name, by one client
	triesOfName   = 50 // for one name, by all
	triesOfClient = 50 // for all names: many people may share an address

	mailsOfName = 3 // forgotten passwords, for one name
)

// maxTracked bounds the memory of each limit: it remembers so many names or
// clients.
const maxTracked = 20_000

// throttle slows down guessing.
type throttle struct {
	client *ratelimit.Limiter[netip.Prefix]
	one    *ratelimit.Limiter[nameTry]
	name   *ratelimit.Limiter[nameHash]
	mail   *ratelimit.Limiter[nameHash]
}

// nameHash is a name as somebody typed it, of any length. Whether there is such
// an account makes no difference.
type nameHash [sha256.Size]byte

func hashName(name string) nameHash {
	return sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(name))))
}

type nameTry struct {
	client netip.Prefix
	name   nameHash
}

func newThrottle() throttle {
	return throttle{
		client: ratelimit.New[netip.Prefix](triesOfClient, tryWindow, maxTracked),
		one:    ratelimit.New[nameTry](triesOfOne, tryWindow, maxTracked),
		name:   ratelimit.New[nameHash](triesOfName, tryWindow, maxTracked),
		mail:   ratelimit.New[nameHash](mailsOfName, tryWindow, maxTracked),
	}
}

// tryClient counts a try of the client. rateLimited: it has had too many.
func (r *request) tryClient() error {
	return r.allowed(r.s.throttle.client.Take(r.client(), r.now))
}

// tryName is tryClient for a try with a name.
func (r *request) tryName(name string) error {
	if err := r.tryClient(); err != nil {
		return err
	}
	t, hash := &r.s.throttle, hashName(name)
	if err := r.allowed(t.one.Take(nameTry{r.client(), hash}, r.now)); err != nil {
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
	return store.Errorf(store.CodeRateLimited, "Too many attempts. Try again at %s.", at.UTC().Format("15:04 UTC"))
}

// client is who asks, as limits count it.
func (r *request) client() netip.Prefix { return ratelimit.ClientKey(r.address()) }

// address is the client's; invalid when it has none.
func (r *request) address() netip.Addr {
	at, err := netip.ParseAddrPort(r.HTTP.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}
