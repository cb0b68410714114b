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

// How many keys and clients are remembered at once, so that a flood of
// addresses can't take all memory. Only keys that exist are tracked.
const (
	maxTrackedKeys    = 100_000
	maxTrackedClients = 100_000
)

// checkClientLimit counts a request for its client's address, before the key
// is looked at.
func (x *exchange) checkClientLimit() error {
	d := x.s.clientLimit.Take(ratelimit.ClientKey(x.clientAddr()), x.now)
	if d.OK {
		return nil
	}
	x.seen.limit = Limits[0]
	return x.rateLimited(d, "Too many requests from this address")
}

// checkKeyLimit counts a request for its key. From here on every answer says
// how much of the limit is left.
func (x *exchange) checkKeyLimit() error {
	if !x.s.keyLimit.Enabled() {
		return nil
	}
	d := x.s.keyLimit.Take(x.access.Key.ID, x.now)
	h := x.w.Header()
	h["RateLimit-Policy"] = x.s.keyPolicy
	h["RateLimit"] = []string{rateLimitState(d)}
	if d.OK {
		return nil
	}
	x.seen.limit = Limits[1]
	return x.rateLimited(d, "Too many requests with this API key")
}

func (x *exchange) rateLimited(d ratelimit.Decision, what string) error {
	wait := ratelimit.Seconds(d.RetryAfter)
	x.w.Header()["Retry-After"] = []string{strconv.Itoa(wait)}
	return store.Errorf(store.CodeRateLimited, "%s: at most %d a minute. Try again in %d s.", what, d.Limit, wait)
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
func (x *exchange) clientAddr() netip.Addr {
	peer, _ := netip.ParseAddrPort(x.r.RemoteAddr)
	return x.s.proxies.Client(peer.Addr(), x.r.Header)
}
