package teamdata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"
)

const (
	pullWait    = 30 * time.Second // for the first delivery: a line that was cut is noticed soon after
	callTimeout = 15 * time.Second // for an answer, beyond a pull's wait
	ackAfter    = time.Second      // when what was handled is acknowledged without a pull
	lastCalls   = 10 * time.Second // what the last requests may take, beyond the grace
)

// consuming is a running Consume. Its state is for the goroutine of run alone: what others do
// comes back to it as news.
type consuming struct {
	Consumer
	once, again *Client // send each request once; as often as the caller wants it
	news        chan func()
	gone        chan struct{} // is closed when nobody reads news any more

	pulls, handling, rest             context.Context // of pulls; of handlers; of the other requests
	stopPulls, stopHandling, stopRest context.CancelFunc

	held        map[string]*taken // by id: pulled, and neither handled nor given back
	queue       []*taken          // those of held that no handler has yet, in order
	running     int               // handlers
	acks        []string          // ids that were handled, to be sent
	unconfirmed map[string]bool   // ids that were handled, which the server may not know

	pulling, acking, extending bool      // whether such a request is under way
	returning                  int       // requests that give deliveries back
	begun                      bool      // whether a pull has succeeded
	asked                      int       // how many deliveries the last pull asked for
	filled                     time.Time // when it was answered with as many; zero: with fewer
	failures                   int       // of pulls and acknowledgments, since one succeeded
	pullAt, ackAt, extendAt    time.Time

	stopped time.Time // zero: it goes on
	reason  error     // why it stopped; nil: its context is done
	failed  error     // why the last acknowledgment failed
	useless bool      // to send it again
}

// taken is a delivery that was pulled.
type taken struct {
	LeasedDelivery
	event  Event
	until  time.Time // when its lease ends
	queued bool
	giving bool // it is being given back
	ended  bool // the lease
}

func newConsuming(ctx context.Context, c *Client, from Consumer) *consuming {
	single := *c.pull
	single.retries, single.timeout = -1, pullWait+callTimeout
	s := &consuming{
		Consumer: from, once: &Client{c.Transport, &single}, again: c, news: make(chan func()), gone: make(chan struct{}),
		held: map[string]*taken{}, unconfirmed: map[string]bool{}, asked: min(from.Parallel, from.Limit),
	}
	s.pulls, s.stopPulls = context.WithCancel(ctx)
	s.rest, s.stopRest = context.WithCancel(context.WithoutCancel(ctx))
	s.handling, s.stopHandling = context.WithCancel(s.rest)
	return s
}

// run starts what is to be done, and hears what became of it, until it is over.
func (c *consuming) run() error {
	defer close(c.gone)
	defer c.stopRest()
	defer c.stopPulls()
	done := c.pulls.Done()
	for {
		c.handleNext()
		c.request(time.Now())
		if c.over(time.Now()) {
			return c.outcome()
		}
		select {
		case tell := <-c.news:
			tell()
		case <-time.After(time.Until(c.next())):
		case <-done:
			done = nil
			c.stop(nil)
		}
	}
}

// do does something in a goroutine, and then in that of run what it returns.
func (c *consuming) do(something func() (tell func())) {
	go func() {
		select {
		case c.news <- something():
		case <-c.gone:
		}
	}()
}

// handleNext has handlers take what is queued. Once the context is done they take nothing more,
// also before run hears of that.
func (c *consuming) handleNext() {
	for c.pulls.Err() == nil && c.running < c.Parallel && len(c.queue) > 0 {
		t := c.queue[0]
		c.queue, t.queued = c.queue[1:], false
		c.running++
		e := t.event
		c.do(func() func() {
			err := c.handle(e)
			return func() {
				c.running--
				c.handled(t, err)
			}
		})
	}
}

// handle calls the handler in a goroutine of its own, which it may end.
func (c *consuming) handle(e Event) error {
	ended := make(chan error, 1)
	go func() {
		err := errors.New("the handler ended its goroutine")
		defer func() {
			if value := recover(); value != nil {
				err = &HandlerPanic{value, debug.Stack()}
			}
			ended <- err
		}()
		err = c.Handle(c.handling, e)
	}()
	return <-ended
}

func (c *consuming) handled(t *taken, err error) {
	if err != nil {
		c.giveBack(t, err)
		return
	}
	delete(c.held, t.ID)
	if len(c.acks) == 0 && c.stopped.IsZero() {
		c.ackAt = latest(c.ackAt, time.Now().Add(ackAfter))
	}
	c.acks = append(c.acks, t.ID)
	c.unconfirmed[t.ID] = true
}

// take queues a delivery that was pulled. One that is still here, since its lease ended in
// between, goes on with the new one, unless it is being given back: it was, and comes again
// before the answer that says so.
func (c *consuming) take(d PulledDelivery, until time.Time) {
	if c.unconfirmed[d.ID] {
		return
	}
	t, here := c.held[d.ID]
	if here = here && !t.giving; !here {
		t = &taken{}
		c.held[d.ID] = t
	}
	t.LeasedDelivery, t.until = LeasedDelivery{ID: d.ID, Lease: d.Lease}, until
	if t.ended = false; here {
		return
	}
	if err := c.verify(t, d); err != nil {
		c.giveBack(t, err)
		return
	}
	t.queued = true
	c.queue = append(c.queue, t)
}

// verify reads the event of a delivery, as it was signed last.
func (c *consuming) verify(t *taken, d PulledDelivery) error {
	header := http.Header{"Webhook-Id": {d.ID}, "Webhook-Timestamp": {d.Timestamp}, "Webhook-Signature": {d.Signature}}
	e, err := c.Verifier.Verify(header, []byte(d.Body))
	if err != nil {
		e = Event{ID: d.ID, Body: []byte(d.Body)}
	}
	e.Header = header
	t.event = e
	return err
}

// unqueue takes a delivery from the queue.
func (c *consuming) unqueue(t *taken) {
	c.queue, t.queued = slices.DeleteFunc(c.queue, func(other *taken) bool { return other == t }), false
}

// stop lets handlers finish, and nothing else begin.
func (c *consuming) stop(why error) {
	if !c.stopped.IsZero() {
		return
	}
	c.stopped, c.reason, c.ackAt = time.Now(), why, time.Time{}
	c.stopPulls()
	c.release()
}

// over reports whether nothing is left to do, or no time for it.
func (c *consuming) over(now time.Time) bool {
	if c.stopped.IsZero() {
		return false
	}
	busy := c.running > 0 || c.returning > 0 || c.pulling || c.acking || len(c.acks) > 0 && !c.useless
	return !busy || !now.Before(c.stopped.Add(c.Grace+lastCalls))
}

func (c *consuming) outcome() error {
	switch {
	case c.reason != nil:
		return c.reason
	case c.running > 0:
		return fmt.Errorf("%d handlers did not end within %s; their events come again", c.running, c.Grace+lastCalls)
	case len(c.unconfirmed) > 0:
		return fmt.Errorf("%d events were handled, may not have been acknowledged, and may come again: %w", len(c.unconfirmed), c.failed)
	}
	return nil
}

// next is when there is something to do, unless there are news before.
func (c *consuming) next() time.Time {
	next := time.Now().Add(time.Hour)
	if c.hungry() {
		next = earliest(next, c.pullAt)
	}
	if len(c.acks) > 0 && !c.acking && !c.useless {
		next = earliest(next, c.ackAt)
	}
	if at, needed := c.extension(); needed {
		next = earliest(next, at)
	}
	if !c.stopped.IsZero() {
		end := c.stopped.Add(c.Grace)
		if c.handling.Err() != nil {
			end = end.Add(lastCalls)
		}
		next = earliest(next, end)
	}
	return next
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
