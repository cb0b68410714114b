package server

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/store"
)

// limitWindow is the span in which a rate limit counts.
const limitWindow = time.Minute

// How many keys and clients are tracked at once, so that a flood of addresses
// can't take all memory. Only keys that exist are tracked.
const (
	maxTrackedKeys    = 100_000
	maxTrackedClients = 100_000
)

// checkClientLimit counts a request for its client's address, before its key is
// checked.
func (r *request) checkClientLimit() error {
	d := r.s.clientLimit.Take(ratelimit.ClientKey(r.clientAddr()), r.now)
	if d.OK {
		return nil
	}
	r.record.limit = Limits[0]
	return r.rateLimited(d, "Too many requests from this address")
}

// checkKeyLimit counts a request for its key. From here on every answer says
// how much of the limit is left.
func (r *request) checkKeyLimit() error {
	if !r.s.keyLimit.Enabled() {
		return nil
	}
	d := r.s.keyLimit.Take(r.access.Key.ID, r.now)
	h := r.W.Header()
	h["RateLimit-Policy"] = r.s.keyPolicy
	h["RateLimit"] = []string{rateLimitState(d)}
	if d.OK {
		return nil
	}
	r.record.limit = Limits[1]
	return r.rateLimited(d, "Too many requests with this API key")
}

func (r *request) rateLimited(d ratelimit.Decision, what string) error {
	wait := ratelimit.Seconds(d.RetryAfter)
	r.W.Header()["Retry-After"] = []string{strconv.Itoa(wait)}
	return store.Errorf(store.CodeRateLimited, "%s: at most %d a minute.", what, d.Limit).Advise("Try again in %d s.", wait)
}

// keyPolicy is the value of RateLimit-Policy in the form of the IETF draft; nil
// without a limit.
func keyPolicy(rate int) []string {
	if rate <= 0 {
		return nil
	}
	return []string{fmt.Sprintf(`"key";q=%d;w=%d`, rate, ratelimit.Seconds(limitWindow))}
}

// rateLimitState is the value of RateLimit: what is left, and the seconds until
// the oldest counted request leaves the window.
func rateLimitState(d ratelimit.Decision) string {
	b := append(make([]byte, 0, 32), `"key";r=`...)
	b = strconv.AppendInt(b, int64(d.Remaining), 10)
	b = append(b, ";t="...)
	return string(strconv.AppendInt(b, int64(ratelimit.Seconds(d.Reset)), 10))
}

// clientAddr is the address of the client that a request comes from, through the
// proxies that are trusted; the zero Addr when it is not of the internet.
func (r *request) clientAddr() netip.Addr {
	peer, _ := netip.ParseAddrPort(r.HTTP.RemoteAddr)
	return r.s.config.Proxies.Client(peer.Addr(), r.HTTP.Header)
}
