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

// Maximum numbers of tracked keys and clients, so a flood of addresses can't
// exhaust memory. Only existing keys are tracked.
const (
	maxTrackedKeys    = 100_000
	maxTrackedClients = 100_000
)

// checkClientLimit counts a request against its client address's limit, before
// its key is checked.
func (r *request) checkClientLimit() error {
	if !r.s.clientLimit.Enabled() {
		return nil
	}
	d := r.s.clientLimit.Take(ratelimit.ClientKey(r.clientAddr()), r.now)
	if d.OK {
		return nil
	}
	r.record.limit = Limits[0]
	return r.rateLimited(d, "Too many requests from this address")
}

// keyLimit is how many requests an API key may make.
type keyLimit struct {
	store.Limiter
	name   string   // in the answer's headers, one of Limits
	policy []string // the header RateLimit-Policy; nil: no limit
}

func newKeyLimit(s store.Store, of, name string, rate int) keyLimit {
	limiter := s.Limiter(store.Limit{Name: of, Max: rate, Window: limitWindow, Tracked: maxTrackedKeys})
	return keyLimit{limiter, name, limitPolicy(name, rate)}
}

// checkKeyLimit counts a request against its key's limit.
func (r *request) checkKeyLimit() error { return r.take(&r.s.keyLimit) }

// take counts a request against a limit of its key. From here on every answer shows how
// much of the limit is left. A request that can't be counted, because the database that
// nodes share is away, is answered with 503, like any other that needs it.
func (r *request) take(l *keyLimit) error {
	if l.policy == nil {
		return nil
	}
	d, err := l.Take(r.HTTP.Context(), r.access.Key.ID, r.now)
	if err != nil {
		return err
	}
	r.W.Header()["RateLimit-Policy"] = l.policy
	r.SetHeader("RateLimit", rateLimitState(l.name, d))
	if d.OK {
		return nil
	}
	r.record.limit = l.name
	return r.rateLimited(d, "Too many requests with this API key")
}

func (r *request) rateLimited(d ratelimit.Decision, what string) error {
	wait := ratelimit.Seconds(d.RetryAfter)
	r.SetHeader("Retry-After", strconv.Itoa(wait))
	return store.Errorf(store.CodeRateLimited, "%s: at most %d a minute.", what, d.Limit).Advise("Try again in %d s.", wait)
}

// limitPolicy returns the value of RateLimit-Policy in the IETF draft's form; nil
// without a limit.
func limitPolicy(name string, rate int) []string {
	if rate <= 0 {
		return nil
	}
	return []string{fmt.Sprintf(`"%s";q=%d;w=%d`, name, rate, ratelimit.Seconds(limitWindow))}
}

// rateLimitState returns the value of RateLimit: what is left, and the seconds
// until the oldest counted request leaves the window.
func rateLimitState(name string, d ratelimit.Decision) string {
	b := append(append(append(make([]byte, 0, 32), '"'), name...), `";r=`...)
	b = strconv.AppendInt(b, int64(d.Remaining), 10)
	b = append(b, ";t="...)
	return string(strconv.AppendInt(b, int64(ratelimit.Seconds(d.Reset)), 10))
}

// clientAddr returns the address of the request's client, seen through trusted
// proxies; the zero Addr if it is not an IP address.
func (r *request) clientAddr() netip.Addr {
	peer, _ := netip.ParseAddrPort(r.HTTP.RemoteAddr)
	return r.s.config.Proxies.Client(peer.Addr(), r.HTTP.Header)
}
