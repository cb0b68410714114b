package delivery_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"teamdata/delivery"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// fleetNode is one of the nodes. The fleet's own goroutine starts and ends it.
type fleetNode struct {
	f         *fleet
	name      string
	url       string
	proxy     *postgres.Proxy // to the database
	process   *fleetProcess   // nil: it is down. The fleet's lock guards it
	startAt   time.Time       // when it is to be there again
	troubleTo time.Time       // until then nothing else happens to it
}

// fleetProcess is a node from its start to its end.
type fleetProcess struct {
	node       *fleetNode
	number     int
	store      *pgstore.Store
	dispatcher *delivery.Dispatcher
	api        store.Idempotency
	stop       context.CancelFunc
	cut        context.CancelFunc // ends the grace
	running    sync.WaitGroup

	// The fleet's lock guards the rest.
	paused  chan struct{} // closed when it goes on; nil while it runs
	failing float64       // the odds that a commit fails
	rand    *rand.Rand    // of that
	ending  bool
	open    map[*endpoint]int // claims
}

const fleetWindow = 8 // attempts to an endpoint at the same time

// start starts a node on the database.
func (n *fleetNode) start() {
	f := n.f
	f.processes++
	p := &fleetProcess{node: n, number: f.processes, rand: rand.New(rand.NewPCG(f.seed, uint64(f.processes))), open: map[*endpoint]int{}}
	target, err := pgstore.ParseTarget(n.url)
	if err == nil {
		p.store, err = pgstore.Open(context.Background(), target, pgstore.Options{Node: n.name, NoHints: true, BeforeCommit: p.beforeCommit})
	}
	if err != nil {
		f.Fatal(err)
	}
	p.dispatcher = delivery.New(fleetClient{storetest.Scoped(f, p.store), p}, delivery.Config{Schedule: f.schedule, PerEndpoint: fleetWindow, Now: p.store.Now})
	p.dispatcher.SendThrough(fleetNetwork{p})
	var ctx, grace context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	grace, p.cut = context.WithCancel(context.Background())
	p.running.Go(func() {
		// A server that can't read at its start what is due ends, and is started again.
		for err := p.dispatcher.Run(ctx, grace); err != nil; err = p.dispatcher.Run(ctx, grace) {
			if f.isCalm() {
				f.breaks(schedule, "the dispatcher of %s ended with %v", n.name, err)
			}
			f.note("%s can't read what is due, and starts again", n.name)
			if wait(ctx, time.Second) != nil {
				return
			}
			f.trouble(time.Now())
		}
	})
	p.running.Go(func() { p.job(ctx) })
	f.mu.Lock()
	defer f.mu.Unlock()
	n.process = p
	f.noteLocked("%s starts as process %d", n.name, p.number)
	f.troubleLocked(time.Now()) // it gets its part of the endpoints
}

// end ends what a process does within a time of grace.
func (p *fleetProcess) end(grace time.Duration) {
	f := p.node.f
	f.mu.Lock()
	p.ending, p.node.process = true, nil
	f.mu.Unlock()
	p.stop()
	timer := time.AfterFunc(grace, p.cut)
	p.running.Wait()
	timer.Stop()
	p.cut()
}

// gate holds up who belongs to a process that is paused.
func (p *fleetProcess) gate() {
	f := p.node.f
	for {
		f.mu.Lock()
		paused := p.paused
		f.mu.Unlock()
		if paused == nil {
			return
		}
		<-paused
	}
}

func (p *fleetProcess) beforeCommit() error {
	p.gate()
	p.node.f.mu.Lock()
	defer p.node.f.mu.Unlock()
	if p.rand.Float64() < p.failing {
		return syscall.ENOSPC
	}
	return nil
}

// job does for a while what one node at a time may do, again and again.
func (p *fleetProcess) job(ctx context.Context) {
	f := p.node.f
	for n := uint64(1); ctx.Err() == nil; n++ {
		r := rand.New(rand.NewPCG(f.seed, uint64(p.number)<<32|n))
		_, _ = p.store.Hold(ctx, "work", func(ctx context.Context) error {
			f.mu.Lock()
			if f.holder != nil && f.holder.Err() == nil {
				f.breaksLocked(exclusive, "%s does a job that another node does", p.node.name)
			}
			f.holder = ctx
			f.noteLocked("%s begins a job", p.node.name)
			f.mu.Unlock()
			err := wait(ctx, upTo(r, 20*time.Second))
			f.note("%s ends a job: %v", p.node.name, err)
			return err
		})
		_ = wait(ctx, 2*time.Second)
	}
}

// injectFault makes something fail.
func (f *fleet) injectFault() {
	n := pick(f.Rand, f.nodes)
	kind, short, long := f.IntN(100), upTo(f.Rand, time.Second), upTo(f.Rand, 18*time.Second)
	away := pick(f.Rand, []time.Duration{time.Millisecond, short, long})
	if n.process == nil || n.troubleTo.After(time.Now()) {
		return
	}
	f.mu.Lock()
	f.sum.faults++
	f.mu.Unlock()
	switch p := n.process; {
	case kind < 15:
		n.kill(away)
	case kind < 30:
		n.end(away, pick(f.Rand, []time.Duration{time.Nanosecond, time.Second, 20 * time.Second}))
	case kind < 50:
		n.pause(p, pick(f.Rand, []time.Duration{short, long}))
	case kind < 70:
		n.cutOff(away)
	case kind < 80:
		n.fail(p, away, pick(f.Rand, []float64{0.3, 0.7, 1}))
	default:
		f.setClock(upTo(f.Rand, 2*maxJump) - maxJump)
	}
}

// kill ends a node as kill -9 does: the database hears nothing more of it.
func (n *fleetNode) kill(away time.Duration) {
	n.f.note("%s is killed", n.name)
	n.f.trouble(time.Now())
	p := n.process
	n.proxy.Down()
	p.end(0)
	_ = p.store.Close() // which can't say so to the database
	n.proxy.Up()
	n.startAt = time.Now().Add(away)
	n.f.trouble(n.startAt)
}

func (n *fleetNode) end(away, grace time.Duration) {
	n.f.note("%s is stopped, with %s of grace", n.name, grace)
	n.f.trouble(time.Now())
	p := n.process
	p.end(grace)
	if err := p.store.Close(); err != nil {
		n.f.breaks(commits, "%s can't be closed: %v", n.name, err)
	}
	n.startAt = time.Now().Add(away)
	n.f.trouble(n.startAt)
}

// pause stops a node as SIGSTOP does: neither does it do anything, nor can it be seen.
func (n *fleetNode) pause(p *fleetProcess, d time.Duration) {
	n.f.note("%s is paused for %s", n.name, d)
	n.f.mu.Lock()
	p.paused = make(chan struct{})
	n.f.mu.Unlock()
	n.cutOff(d)
}

// cutOff cuts a node off from the database.
func (n *fleetNode) cutOff(d time.Duration) {
	n.f.note("%s is cut off for %s", n.name, d)
	n.until(d)
	n.proxy.Down()
}

// fail makes commits of a node fail.
func (n *fleetNode) fail(p *fleetProcess, d time.Duration, odds float64) {
	n.f.note("%.0f%% of the commits of %s fail for %s", 100*odds, n.name, d)
	n.until(d)
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	p.failing = odds
}

func (n *fleetNode) until(d time.Duration) {
	d = max(d, time.Millisecond)
	n.troubleTo = time.Now().Add(d)
	n.f.trouble(n.troubleTo)
	time.AfterFunc(d, n.heal)
}

// heal ends what is wrong with a node.
func (n *fleetNode) heal() {
	n.proxy.Up()
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	n.f.noteLocked("%s is well", n.name)
	if p := n.process; p != nil {
		if p.failing = 0; p.paused != nil {
			close(p.paused)
			p.paused = nil
		}
	}
}

// setClock sets the database's clock. What is due may come late until somebody looks at it.
func (f *fleet) setClock(ahead time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if was := f.database.ahead; ahead < was {
		f.passClock(time.Now().Add(was))
	}
	by := f.database.jump(ahead)
	f.noteLocked("the database's clock jumps by %s", by)
	f.jumps++
	f.troubleLocked(time.Now().Add(clockLook))
}

// maxJump is how far the database's clock may be from the time.
const maxJump = 2 * time.Minute

// clockLook is how long it takes until a node finds that the clock was set.
const clockLook = 30 * time.Second

// leases is how long leases last, with some time to find out that they are lost.
const leases = 9 * time.Second

// trouble says that something is wrong until a time. Its effects end later.
func (f *fleet) trouble(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.troubleLocked(until)
}

func (f *fleet) troubleLocked(until time.Time) {
	f.calmAt = latest(f.calmAt, until.Add(leases+deadline))
}

func (f *fleet) isCalm() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.calmAt.After(time.Now())
}

// running is a process that runs, another one each time; nil: none does.
func (f *fleet) running() *fleetProcess {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range f.nodes {
		f.turn++
		if p := f.nodes[f.turn%len(f.nodes)].process; p != nil {
			return p
		}
	}
	return nil
}

// fleetClient is the store as a node's dispatcher sees it.
type fleetClient struct {
	store.Store
	p *fleetProcess
}

func (c fleetClient) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	c.p.gate()
	if c.p.node.f.isBroken() {
		return store.Claims{}, errBroken
	}
	claims, err := c.Store.Claim(ctx, endpoint, now, limit)
	c.p.claims(&claims, now)
	c.p.gate()
	return claims, err
}

// Update looks, while the outcome of an attempt is written, whether the node may.
func (c fleetClient) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	c.p.gate()
	fenced := false
	err := c.Store.Update(ctx, scope, func(tx store.Tx) error {
		if scope.Fence.Token != 0 {
			fenced = c.p.node.f.database.token(scope.Fence.Endpoint) != scope.Fence.Token
		}
		return fn(tx)
	})
	c.p.recorded(scope, fenced, err)
	c.p.gate()
	return err
}

func (c fleetClient) Release(id string) {
	c.p.release(id)
	c.Store.Release(id)
}
