package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/delivery/wheel"
	"teamdata/internal/hint"
	"teamdata/store"
)

// claimPause is how long an endpoint pauses after a failure to read the store.
const claimPause = time.Second

// Dispatcher sends what is due until it is stopped.
type Dispatcher struct {
	store      store.Store
	config     Config
	send       func(context.Context, *store.Endpoint, *store.Claim) (a store.Attempt, outcome string)
	disconnect func() // from receivers, where no attempt is in flight
	onAttempt  func(orgID, endpointID, outcome string, took time.Duration)
	inbox      inbox
	workers    workers
	tooLate    chan struct{}        // has one token while something is due later than the schedule allows
	pulse      chan struct{}        // takes a token while Run has nothing else to do
	asked      chan chan<- struct{} // see Settle
	proxyUp    chan struct{}        // has one token after the proxy began to work again
	givenBack  atomic.Uint64        // deliveries, since the proxy had failed

	// The rest belongs to Run's goroutine.
	wheel       *wheel.Wheel[uint64]
	queues      map[uint64]*endpointQueue
	healthy     fairQueue // of queues whose endpoints acknowledged lately
	probation   fairQueue // of the others
	inFlight    int
	onProbation int               // of inFlight, the attempts of queues on probation
	asking      []chan<- struct{} // to be closed once nothing is due; see Settle
	short       short
	behind      map[uint64]bool // endpoints that wait for the proxy
}

// New makes a Dispatcher. It listens to the store from now on, so it is made
// before the first request is served.
func New(s store.Store, c Config) *Dispatcher {
	c = c.withDefaults()
	sender := newSender(c)
	d := &Dispatcher{
		store: s, config: c, send: sender.send, disconnect: sender.disconnect,
		pulse: make(chan struct{}), asked: make(chan chan<- struct{}), tooLate: make(chan struct{}, 1),
		proxyUp: make(chan struct{}, 1), behind: make(map[uint64]bool),
		onAttempt: func(string, string, string, time.Duration) {},
		wheel:     wheel.New[uint64](c.Now()), queues: make(map[uint64]*endpointQueue),
	}
	d.inbox.init()
	d.watchProxy()
	d.workers = workers{run: d.attempt, jobs: make(chan job)}
	s.OnDue(func(endpoint uint64, at time.Time) {
		if store.IsPull(endpoint) {
			c.Pulled(endpoint, at)
		} else {
			d.inbox.addDue(endpoint, at)
		}
	})
	return d
}

// OnAttempt sets fn to be called after each attempt that counts, with one of
// Outcomes. It is set once, before Run; fn is called concurrently.
func (d *Dispatcher) OnAttempt(fn func(orgID, endpointID, outcome string, took time.Duration)) {
	d.onAttempt = fn
}

// Run sends until ctx is done. Then it claims nothing more, waits for the
// attempts in flight until grace is done, and drops the rest uncounted: they are
// repeated after the next start.
func (d *Dispatcher) Run(ctx, grace context.Context) error {
	if err := d.store.EachDue(ctx, d.inbox.addDue); err != nil && ctx.Err() == nil {
		return err
	}
	watching, endWatching := context.WithCancel(ctx)
	var clock sync.WaitGroup
	clock.Go(func() { d.watchClock(watching) })
	defer clock.Wait()
	defer endWatching() // a panic would wait for ever
	for ctx.Err() == nil {
		now := d.config.Now()
		d.readInbox(now)
		d.wheel.Expire(now, func(endpoint uint64) { d.enqueue(d.queue(endpoint)) })
		d.dispatch(ctx, grace, now)
		d.answerIfSettled()
		d.sleep(ctx)
	}
	var handedOver sync.WaitGroup
	handedOver.Go(func() { d.store.HandOver(grace) })
	d.workers.wait()
	handedOver.Wait()
	d.disconnect()
	if d.config.Proxy != nil {
		d.config.Proxy.Close()
	}
	return nil
}

// Alive waits until Run's loop responds. It returns ctx's error if ctx is done first.
func (d *Dispatcher) Alive(ctx context.Context) error {
	select {
	case <-d.pulse:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settle makes Run read the clock, which may have been moved, and waits until nothing
// is due and no attempt is in flight. It returns ctx's error if ctx is done first.
func (d *Dispatcher) Settle(ctx context.Context) error { return settle(ctx, d.asked) }

// settle hands a loop a channel, and waits until the loop closes it.
func settle(ctx context.Context, asked chan<- chan<- struct{}) error {
	settled := make(chan struct{})
	select {
	case asked <- settled:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answerIfSettled answers the callers of Settle if nothing is due or in flight.
func (d *Dispatcher) answerIfSettled() {
	if d.inFlight > 0 || !d.healthy.empty() || !d.probation.empty() || len(d.inbox.hasWork) > 0 {
		return
	}
	for _, settled := range d.asking {
		close(settled)
	}
	d.asking = nil
}

// readInbox processes what arrived since the last call.
func (d *Dispatcher) readInbox(now time.Time) {
	due, results := d.inbox.take()
	for endpoint, at := range due {
		if at.After(now) {
			d.doubt(at, now)
			d.wheel.SetEarlier(endpoint, at)
		} else {
			q := d.queue(endpoint)
			q.told = true
			d.enqueue(q)
		}
	}
	for _, r := range results {
		q := d.queues[r.endpoint]
		if r.asked {
			q.asked--
		}
		if r.begun {
			if q.backlogged {
				d.enqueue(q)
			}
			continue
		}
		d.count(q, -q.inFlight)
		if !r.lost && !r.early && !r.behind {
			d.short.note(&r, d.config.Log)
		}
		if r.lost || r.short || r.early || r.behind {
			q.inFlight--
		} else {
			q.finish(&r.attempt, d.config.PerEndpoint)
		}
		d.count(q, q.inFlight)
		if r.behind {
			d.wait(q)
		} else if q.backlogged || q.dirty || r.lost || r.early || !r.attempt.Acknowledged() { // a failed one may have become due again before its release
			d.enqueue(q)
		} else {
			d.evict(q)
		}
	}
	d.readProxy()
}

// count adds n attempts of a queue to those in flight.
func (d *Dispatcher) count(q *endpointQueue, n int) {
	d.inFlight += n
	if !q.healthy() {
		d.onProbation += n
	}
}

// dispatch gives each waiting queue a turn as long as there is room, and ctx is not
// done, healthy ones and those on probation alternately. Those on probation share half of the
// capacity, so that many dead receivers can't starve a live one.
func (d *Dispatcher) dispatch(ctx, grace context.Context, now time.Time) {
	for served := !d.short.pausing(); served && ctx.Err() == nil; {
		served = false
		if !d.healthy.empty() && d.inFlight < d.config.Total {
			d.serve(grace, &d.healthy, now)
			served = true
		}
		if !d.probation.empty() && d.inFlight < d.config.Total && d.onProbation < d.config.Total/2 {
			d.serve(grace, &d.probation, now)
			served = true
		}
	}
}

// serve gives the first queue its turn, unless its health has changed while it
// waited.
func (d *Dispatcher) serve(grace context.Context, from *fairQueue, now time.Time) {
	q := from.pop()
	q.queued = false
	if from == d.fairQueue(q) {
		d.claim(grace, q, now)
	} else {
		d.enqueue(q)
	}
}

// claim starts as many attempts as the queue's window and the total allow.
func (d *Dispatcher) claim(grace context.Context, q *endpointQueue, now time.Time) {
	room := min(q.room(), d.config.Total-d.inFlight)
	if q.backlogged = room <= 0; q.backlogged {
		return // the next result enqueues it again
	}
	if until := q.waitsUntil(now); !until.IsZero() {
		if !q.told {
			d.wheel.Set(q.endpoint, until)
			return
		}
		room = 1 // to see whether it still has that rate
	}
	q.told = false
	claims, err := d.store.Claim(grace, q.endpoint, now, room)
	if err != nil {
		d.config.Log.Error().Fields(hint.Fields(err)).Msg("due deliveries can't be read; trying again")
		claims.Next = now.Add(claimPause)
	}
	q.org, q.dirty = claims.Endpoint.OrgID, claims.Again
	if claims.Endpoint.Number != 0 || err == nil && q.inFlight == 0 { // of one that is disabled or gone, nothing is kept
		q.learn(&claims.Endpoint.Sending, d.config.PerEndpoint)
	}
	until := q.waitsUntil(now)
	for i := range claims.Claims {
		if !until.IsZero() || q.room() <= 0 {
			d.store.Release(claims.Claims[i].Delivery.ID)
			claims.Next = now
			continue
		}
		q.inFlight++
		d.count(q, 1)
		if q.pacer != nil {
			q.asked++
		}
		d.workers.start(job{grace, &claims, &claims.Claims[i], q.pacer})
	}
	if !until.IsZero() && !claims.Next.IsZero() && claims.Next.Before(until) {
		claims.Next = until
	}
	d.schedule(q, claims.Next, now)
}

// schedule decides when the queue's next turn comes. Deliveries that become due
// after the claim come through the inbox.
func (d *Dispatcher) schedule(q *endpointQueue, next, now time.Time) {
	switch {
	case next.IsZero():
		d.wheel.Remove(q.endpoint)
	case next.After(now):
		d.wheel.Set(q.endpoint, next)
	case q.room() > 0:
		d.enqueue(q)
	default:
		q.backlogged = true
	}
	d.evict(q)
}

// evict drops a queue whose state equals that of a new one.
func (d *Dispatcher) evict(q *endpointQueue) {
	if q.inFlight == 0 && !q.queued && q.window == 1 && q.pacer == nil {
		delete(d.queues, q.endpoint)
	}
}

// queue returns the endpoint's queue, creating it if needed.
func (d *Dispatcher) queue(endpoint uint64) *endpointQueue {
	q := d.queues[endpoint]
	if q == nil {
		q = &endpointQueue{endpoint: endpoint, window: 1, most: d.config.PerEndpoint}
		d.queues[endpoint] = q
	}
	return q
}

// enqueue queues q for a turn.
func (d *Dispatcher) enqueue(q *endpointQueue) {
	if !q.queued {
		q.queued = true
		d.fairQueue(q).push(q)
	}
}

func (d *Dispatcher) fairQueue(q *endpointQueue) *fairQueue {
	if q.healthy() {
		return &d.healthy
	}
	return &d.probation
}

// sleep waits for work or for the next due time.
func (d *Dispatcher) sleep(ctx context.Context) {
	var timer <-chan time.Time
	if next, ok := d.wheel.Next(); ok {
		timer = time.After(untilLook(d.config.Now(), next))
	}
	if d.short.pausing() {
		timer = time.After(time.Until(d.short.until))
	} else if d.inFlight == 0 {
		d.short.end(d.config.Log) // no attempt is left to reveal it
	}
	select {
	case <-ctx.Done():
	case <-d.inbox.hasWork:
	case d.pulse <- struct{}{}:
	case settled := <-d.asked:
		d.asking = append(d.asking, settled)
	case <-timer:
	}
}
