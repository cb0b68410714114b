package delivery

import (
	"context"
	"time"

	"teamdata/delivery/wheel"
	"teamdata/store"
)

// claimPause is how long an endpoint rests after the store could not be read.
const claimPause = time.Second

// Dispatcher sends what is due until it is stopped.
type Dispatcher struct {
	store   store.Store
	config  Config
	send    func(context.Context, *store.Endpoint, *store.Claim) store.Attempt
	inbox   inbox
	workers workers

	// The rest belongs to Run's goroutine.
	wheel    *wheel.Wheel[uint64]
	lanes    map[uint64]*lane
	ready    turns // lanes whose turn comes
	doubtful turns // those of them without proof
	inFlight int
	unproven int // of inFlight, those of lanes without proof
}

// New makes a Dispatcher. It listens to the store from now on, so it is made
// before the first request is served.
func New(s store.Store, c Config) *Dispatcher {
	c = c.withDefaults()
	d := &Dispatcher{
		store: s, config: c, send: newSender(c).send,
		wheel: wheel.New[uint64](time.Now()), lanes: make(map[uint64]*lane),
	}
	d.inbox.init()
	d.workers = workers{run: d.attempt, jobs: make(chan job)}
	s.OnDue(d.inbox.noteDue)
	return d
}

// Run sends until ctx is done. Then it takes nothing more on, waits for what
// is in flight until grace is done, and drops the rest uncounted: those are
// sent again at the next start.
func (d *Dispatcher) Run(ctx, grace context.Context) error {
	if err := d.store.EachDue(ctx, d.inbox.noteDue); err != nil && ctx.Err() == nil {
		return err
	}
	for ctx.Err() == nil {
		now := time.Now()
		d.read(now)
		d.wheel.Expire(now, func(endpoint uint64) { d.makeReady(d.lane(endpoint)) })
		d.serve(grace, now)
		d.sleep(ctx)
	}
	d.workers.wait()
	return nil
}

// read takes in what came since the last turn.
func (d *Dispatcher) read(now time.Time) {
	due, done := d.inbox.take()
	for endpoint, at := range due {
		if l := d.lanes[endpoint]; l != nil {
			l.told = l.inFlight > 0
		}
		if at.After(now) {
			d.wheel.SetEarlier(endpoint, at)
		} else {
			d.makeReady(d.lane(endpoint))
		}
	}
	for _, r := range done {
		l := d.lanes[r.endpoint]
		d.count(l, -l.inFlight)
		l.landed(r.outcome, d.config.PerEndpoint)
		d.count(l, l.inFlight)
		if l.behind || l.told || r.outcome != acknowledged { // what failed may be due again since before it was released
			d.makeReady(l)
		} else {
			d.forget(l)
		}
	}
}

// count adds attempts of a lane to those in flight.
func (d *Dispatcher) count(l *lane, n int) {
	d.inFlight += n
	if !l.proven() {
		d.unproven += n
	}
}

// serve gives each ready lane a turn as long as there is room, those with proof
// and those without in turns. Lanes without proof share half of the room, so
// that a crowd of dead receivers can't starve a living one.
func (d *Dispatcher) serve(grace context.Context, now time.Time) {
	for served := true; served; {
		served = false
		if !d.ready.empty() && d.inFlight < d.config.Total {
			d.serveOne(grace, &d.ready, now)
			served = true
		}
		if !d.doubtful.empty() && d.inFlight < d.config.Total && d.unproven < d.config.Total/2 {
			d.serveOne(grace, &d.doubtful, now)
			served = true
		}
	}
}

func (d *Dispatcher) serveOne(grace context.Context, from *turns, now time.Time) {
	l := from.pop()
	l.ready = false
	if from != d.turnsOf(l) { // its proof has changed since it waits
		d.makeReady(l)
		return
	}
	d.turn(grace, l, now)
}

// turn starts as many attempts as the lane's window and the total allow.
func (d *Dispatcher) turn(grace context.Context, l *lane, now time.Time) {
	room := min(l.window-l.inFlight, d.config.Total-d.inFlight)
	if l.behind = room <= 0; l.behind {
		return // the next that lands makes it ready again
	}
	claims, err := d.store.Claim(grace, l.endpoint, now, room)
	if err != nil {
		d.config.Log.Error().Err(err).Msg("due deliveries can't be read; trying again")
		claims.Next = now.Add(claimPause)
	}
	l.org = claims.Endpoint.OrgID
	for i := range claims.Claims {
		l.inFlight++
		d.count(l, 1)
		d.workers.start(job{grace, &claims.Endpoint, &claims.Claims[i]})
	}
	d.park(l, claims.Next, now)
}

// park decides when the lane's next turn comes. What becomes due that it doesn't
// know of yet, it is told.
func (d *Dispatcher) park(l *lane, next, now time.Time) {
	switch {
	case next.IsZero():
		d.wheel.Remove(l.endpoint)
	case next.After(now):
		d.wheel.Set(l.endpoint, next)
	case l.inFlight < l.window:
		d.makeReady(l)
	default:
		l.behind = true
	}
	d.forget(l)
}

// forget drops a lane that is as good as new: there is nothing to remember.
func (d *Dispatcher) forget(l *lane) {
	if l.inFlight == 0 && !l.ready && l.window == 1 {
		delete(d.lanes, l.endpoint)
	}
}

func (d *Dispatcher) lane(endpoint uint64) *lane {
	l := d.lanes[endpoint]
	if l == nil {
		l = &lane{endpoint: endpoint, window: 1}
		d.lanes[endpoint] = l
	}
	return l
}

func (d *Dispatcher) makeReady(l *lane) {
	if !l.ready {
		l.ready = true
		d.turnsOf(l).push(l)
	}
}

func (d *Dispatcher) turnsOf(l *lane) *turns {
	if l.proven() {
		return &d.ready
	}
	return &d.doubtful
}

// sleep waits for news or for the next due time.
func (d *Dispatcher) sleep(ctx context.Context) {
	var timer <-chan time.Time
	if next, ok := d.wheel.Next(); ok {
		timer = time.After(time.Until(next))
	}
	select {
	case <-ctx.Done():
	case <-d.inbox.news:
	case d.config.watch.pulse <- struct{}{}:
	case <-timer:
	}
}
