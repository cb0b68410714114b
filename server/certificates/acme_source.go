package certificates

import (
	"context"
	"errors"
	"fmt"
	"time"

	"teamdata/internal/hint"
)

// firstRetries say how long after each failed attempt to get a certificate from an
// authority the next is made; the last counts for every later one. Let's Encrypt allows five failures
// an hour.
var firstRetries = []time.Duration{2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// unreachedRetries are the same for attempts that the authority did not see: they
// count for none of its limits.
var unreachedRetries = []time.Duration{5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute}

// clockPause follows a certificate that is of no use or due at once: authorities limit
// how many they give for a name.
const clockPause = 24 * time.Hour

// firstPatience is how long an authority may take while another one can be asked, so that
// the other gives a certificate within a minute. A call that is to be made again may come
// up to maxPause later.
const firstPatience = 25 * time.Second

var (
	errClock = hint.New("by this machine's clock, the authority's new certificate is invalid or already due for renewal", "set the clock")
	errEarly = errors.New("no authority may be asked again yet")
	errSlow  = fmt.Errorf("not done within %s", firstPatience)
)

// source is an authority to which a domain's certificate may come from. Its fields are
// guarded by the domain's mu, and written by its attempt alone.
type source struct {
	*authority
	failures  int       // attempts that failed since the last certificate
	unreached int       // those of them since the authority was last reached
	next      time.Time // before it there is no attempt
	unable    bool      // it was down or limited us: others are asked until then
}

// succeeded forgets the failures: the next certificate is asked of the first authority.
func (s *source) succeeded() { *s = source{authority: s.authority} }

// failed counts a failure, after which the next attempt is not before a pause.
func (s *source) failed(now time.Time, reached, unable bool, wait time.Duration) {
	pauses, n := unreachedRetries, &s.unreached
	if reached {
		pauses, n, s.unreached = firstRetries, &s.failures, 0
	}
	*n++
	s.next, s.unable = now.Add(max(pauses[min(*n, len(pauses))-1], wait)), unable
}

// next is when an authority may be asked again. After one that refused the domain itself
// no other is asked: it would refuse it, too.
func (d *domain) next() time.Time {
	first := d.sources[0].next
	for _, s := range d.sources {
		if s.next.Before(first) {
			first = s.next
		}
		if !s.unable {
			break
		}
	}
	return first
}

// order gets a certificate from the first authority that can give one.
func (d *domain) order(ctx context.Context) error {
	err := errEarly
	for i, s := range d.sources {
		if !d.acme.config.Now().Before(s.next) {
			another := i+1 < len(d.sources)
			if err = d.orderFrom(ctx, s, another); err != nil && s.unable && another {
				d.log.Warn().Str("authority", s.directory).Time("nextTry", s.next).Msg("this authority issues no certificate now; another one may")
			}
		}
		if err == nil || !s.unable {
			break
		}
	}
	return err
}

// orderFrom gets a certificate from one authority.
func (d *domain) orderFrom(ctx context.Context, s *source, another bool) error {
	var until time.Time
	if another {
		until = time.Now().Add(firstPatience)
	}
	client, calls := d.acme.newClient(d, s.authority, until)
	text, err := (&attempt{domain: d, client: client}).certificate()
	unable := calls.end()
	if err == nil {
		err = d.keep(ctx, s.authority, text)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.acme.config.Now()
	if calls.issued && d.due(now) {
		err, unable, calls.wait = errClock, false, clockPause
	}
	if err != nil {
		s.failed(now, calls.answered, unable, calls.wait)
	}
	return err
}
