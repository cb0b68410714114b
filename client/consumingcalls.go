package teamdata

import (
	"cmp"
	"context"
	"errors"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	maxAcked    = 1000 // deliveries in a request
	maxExtended = 100
	maxReason   = 300 // characters
)

// request sends what is due.
func (c *consuming) request(now time.Time) {
	if len(c.acks) > 0 && !c.acking && !c.useless && !now.Before(c.ackAt) {
		c.acknowledge()
	}
	if c.hungry() && !now.Before(c.pullAt) {
		c.pull()
	}
	if at, needed := c.extension(); needed && !now.Before(at) {
		c.extend()
	}
	if !c.stopped.IsZero() && !now.Before(c.stopped.Add(c.Grace)) {
		c.stopHandling()
	}
}

// hungry reports whether there is a handler without an event.
func (c *consuming) hungry() bool {
	return c.stopped.IsZero() && !c.pulling && len(c.queue) == 0 && c.running < c.Parallel
}

// pull pulls, and acknowledges what was handled meanwhile.
func (c *consuming) pull() {
	acks := c.takeAcks()
	c.pulling = true
	began := time.Now()
	c.asked = c.limit(began)
	limit, wait, lease := c.asked, int(pullWait.Seconds()), int(c.Lease.Seconds())
	c.do(func() func() {
		found, err := c.once.PullDeliveries(c.pulls, c.Endpoint, Pull{Limit: &limit, WaitSeconds: &wait, LeaseSeconds: &lease, Ack: &acks}, IdempotencyKey(""))
		until := time.Now().Add(c.Lease)
		return func() {
			c.pulling = false
			c.acknowledged(acks, nil, err)
			if err != nil {
				c.pullFailed(err, len(acks) > 0)
				return
			}
			c.begun, c.filled = true, time.Time{}
			if len(found) == limit {
				c.filled = time.Now()
			}
			for _, d := range found {
				c.take(d, until)
			}
			if len(found) == 0 && time.Since(began) < firstWait { // a server that stops does not wait
				c.pullAt = time.Now().Add(firstWait - mathrand.N(firstWait/2))
			}
			if !c.stopped.IsZero() {
				c.release()
			}
		}
	})
}

// limit is how many deliveries a pull asks for. Those of the last one have been handled, or are
// being so.
func (c *consuming) limit(now time.Time) int {
	switch took := now.Sub(c.filled); {
	case c.filled.IsZero():
		return c.asked
	case took < time.Second:
		return min(2*c.asked, c.Limit)
	case took > 2*time.Second:
		return max(c.asked/2, min(c.Parallel, c.Limit))
	}
	return c.asked
}

func (c *consuming) pullFailed(err error, acked bool) {
	if c.pulls.Err() != nil {
		return
	}
	if acked && has(err, CodeBadRequest) || has(err, CodeConflict) { // acknowledged apart, which finds what is wrong
		c.ackAt = time.Time{}
	}
	wait, ok := c.waitAfter(err)
	if acked && has(err, CodeBadRequest) {
		wait, ok = firstWait, true
	}
	if !ok || !c.once.pull.retrying(err, wait) {
		c.stop(err)
		return
	}
	if errors.Is(err, ErrNoAnswer) { // over HTTP/2 the next pull would go by the same line, which may be dead
		c.once.pull.http.CloseIdleConnections()
	}
	c.failures++
	c.pullAt = time.Now().Add(wait)
	if !c.ackAt.IsZero() { // with the next pull, if it comes soon
		c.ackAt = latest(c.ackAt, c.pullAt.Add(ackAfter))
	}
}

// waitAfter is how long to wait after a request failed; not ok: for ever.
func (c *consuming) waitAfter(err error) (wait time.Duration, ok bool) {
	wait = min(firstWait<<min(c.failures, 16), longestWait)
	wait -= mathrand.N(wait / 2)
	refused, answered := errors.AsType[*Error](err)
	if !answered {
		return wait, errors.Is(err, ErrNoAnswer)
	}
	if refused.RetryAfter > 0 {
		wait = refused.RetryAfter + mathrand.N(firstWait)
	}
	disabled := refused.Code == CodeConflict && c.begun
	return wait, disabled || refused.Status == http.StatusTooManyRequests || refused.Status >= 500
}

// has reports whether an error is an answer with a code.
func has(err error, code string) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && refused.Code == code
}

// takeAcks takes the ids that a request acknowledges.
func (c *consuming) takeAcks() (ids []string) {
	n := min(len(c.acks), maxAcked)
	ids = slices.Clone(c.acks[:n])
	c.acks = c.acks[n:]
	return ids
}

// acknowledged notes what became of acknowledgments: those that are left are sent again.
func (c *consuming) acknowledged(ids, left []string, err error) {
	if err != nil && left == nil {
		left = ids
	}
	for _, id := range ids {
		delete(c.unconfirmed, id)
	}
	for _, id := range left {
		c.unconfirmed[id] = true
	}
	c.acks = append(slices.Clone(left), c.acks...)
	if c.failed = err; err == nil {
		c.failures, c.ackAt = 0, time.Time{}
		if len(c.acks) > 0 && c.stopped.IsZero() {
			c.ackAt = time.Now().Add(ackAfter)
		}
	}
}

// acknowledge acknowledges without a pull.
func (c *consuming) acknowledge() {
	ids := c.takeAcks()
	c.acking = true
	c.do(func() func() {
		left, err := c.ack(ids)
		return func() {
			c.acking = false
			c.acknowledged(ids, left, err)
			if err == nil {
				return
			}
			wait, ok := c.waitAfter(err)
			c.failures++
			c.ackAt = time.Now().Add(wait)
			if !ok {
				c.useless = true
				c.stop(err)
			}
		}
	})
}

// ack acknowledges deliveries but those that the endpoint does not have any more, and returns
// which are left.
func (c *consuming) ack(ids []string) (left []string, err error) {
	ctx, end := context.WithTimeout(c.rest, callTimeout)
	defer end()
	err = c.once.AckDeliveries(ctx, c.Endpoint, ids)
	switch {
	case err == nil || has(err, CodeBadRequest) && len(ids) == 1:
		return nil, nil
	case !has(err, CodeBadRequest):
		return ids, err
	}
	half := len(ids) / 2
	left, err = c.ack(ids[:half])
	more, errMore := c.ack(ids[half:])
	return append(left, more...), cmp.Or(err, errMore)
}

// giveBack refuses a delivery. If that is not told, it comes again when its lease ends.
func (c *consuming) giveBack(t *taken, why error) {
	t.giving = true
	c.returning++
	e, leased := t.event, t.LeasedDelivery
	c.do(func() func() {
		c.Refused(e, why)
		reason := reasonOf(why)
		c.again.NackDeliveries(c.rest, c.Endpoint, Nack{Deliveries: []LeasedDelivery{leased}, Reason: &reason})
		return func() {
			c.returning--
			if c.held[leased.ID] == t {
				delete(c.held, leased.ID)
			}
		}
	})
}

// reasonOf is the text of an error, as a reason may be.
func reasonOf(err error) string {
	text := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(err.Error(), "\uFFFD"), unicode.IsControl), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason-1]) + "…"
	}
	return text
}

// extension is when leases are to be extended, if there are any.
func (c *consuming) extension() (at time.Time, needed bool) {
	for _, t := range c.held {
		if due := t.until.Add(-c.Lease / 2); !t.giving && !t.ended && (!needed || due.Before(at)) {
			at, needed = due, true
		}
	}
	return latest(at, c.extendAt), needed && !c.extending
}

// extend extends the leases of all that is held.
func (c *consuming) extend() {
	var leases []LeasedDelivery
	for _, t := range c.held {
		if !t.giving && !t.ended {
			leases = append(leases, t.LeasedDelivery)
		}
	}
	c.extending = true
	c.do(func() func() {
		extended, ended, err := c.extendThose(leases, c.Lease)
		until := time.Now().Add(c.Lease)
		return func() {
			c.extending = false
			for _, d := range extended {
				c.extended(d, until)
			}
			for _, l := range ended {
				c.ended(l)
			}
			if err != nil {
				c.extendAt = time.Now().Add(min(ackAfter, c.Lease/10))
			}
		}
	})
}

// extendThose extends leases, and returns those that had ended.
func (c *consuming) extendThose(leases []LeasedDelivery, lasts time.Duration) (extended []PulledDelivery, ended []LeasedDelivery, err error) {
	seconds := int(lasts.Seconds())
	for some := range slices.Chunk(leases, maxExtended) {
		ctx, end := context.WithTimeout(c.rest, callTimeout)
		found, errSome := c.once.ExtendLeases(ctx, c.Endpoint, Extension{Deliveries: some, LeaseSeconds: &seconds})
		end()
		switch {
		case !has(errSome, CodeConflict) && !has(errSome, CodeBadRequest):
		case len(some) == 1:
			ended, errSome = append(ended, some[0]), nil
		default: // all or none: the halves tell which
			half := len(some) / 2
			first, endedFirst, errFirst := c.extendThose(some[:half], lasts)
			second, endedSecond, errSecond := c.extendThose(some[half:], lasts)
			found, ended = append(first, second...), slices.Concat(ended, endedFirst, endedSecond)
			errSome = cmp.Or(errFirst, errSecond)
		}
		extended, err = append(extended, found...), cmp.Or(err, errSome)
	}
	return extended, ended, err
}

// extended notes that a lease was extended, and takes the new signature for what waits here.
func (c *consuming) extended(d PulledDelivery, until time.Time) {
	t := c.held[d.ID]
	if t == nil || t.Lease != d.Lease {
		return
	}
	if t.until = until; t.queued {
		if err := c.verify(t, d); err != nil {
			c.unqueue(t)
			c.giveBack(t, err)
		}
	}
}

// ended notes that a lease has ended: what was not begun is somebody else's, and the rest may
// be acknowledged late.
func (c *consuming) ended(l LeasedDelivery) {
	t := c.held[l.ID]
	if t == nil || t.Lease != l.Lease {
		return
	}
	if t.ended = true; t.queued {
		c.unqueue(t)
		delete(c.held, l.ID)
	}
}

// release lets the leases end soon of what nobody has begun to handle.
func (c *consuming) release() {
	var leases []LeasedDelivery
	for _, t := range c.queue {
		leases = append(leases, t.LeasedDelivery)
		delete(c.held, t.ID)
	}
	if c.queue = nil; len(leases) == 0 {
		return
	}
	c.returning++
	c.do(func() func() {
		c.extendThose(leases, minLease)
		return func() { c.returning-- }
	})
}
