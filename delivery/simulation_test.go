package delivery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/delivery"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
)

// seeds are those of the simulation; one that is run alone logs all that happens.
var seeds = kit.NewSeeds("simulation.seeds", 8)

// TestSimulation lets days pass in a small world in which everything fails that can:
// receivers fail, hang and lose their answers, the disk is full at times, the
// clock is set, the program is killed, stopped and started, and people disable,
// enable, move, remove and make endpoints, and replay deliveries meanwhile. The store,
// its file or its database, the dispatcher and the mailer are the real ones; the
// network, the mail server and the time are not, so that hours take no time at all.
//
// The world keeps a model of what was accepted, and checks each commit, each attempt
// and what a restart finds for the promises (simulation_report_test.go). A seed
// always does the same, except for the order of what happens at one instant.
//
//	go test -race ./delivery -run '^TestSimulation$' -args -simulation.seeds=500
func TestSimulation(t *testing.T) {
	var searches atomic.Int64
	seeds.Run(t, func(t *testing.T, seed uint64) {
		t.Parallel()
		engine := newEngine(t)
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed, engine)
			w.live()
			searches.Add(int64(w.sum.searches))
		})
	}, 757366481, 785362462, 785362477)
	t.Cleanup(func() {
		if t.Logf("%d starts had to search for free pages", searches.Load()); searches.Load() == 0 && !seeds.Alone() && !engines.OnDatabase() {
			t.Error("no start had to search for free pages")
		}
	})
}

// steps is how often something is done before a world settles.
const steps = 70

// world is one simulated installation, with everybody around it.
type world struct {
	*testing.T
	*rand.Rand // what happens when; it belongs to the world's own goroutine
	seed       uint64
	engine     engine
	config     delivery.Config
	roomy      bool // so much may be in flight that no endpoint waits for room
	retention  time.Duration
	chronicle
	made    int // names that were made up
	places  int // addresses that were made up
	store   store.Engine
	process *process
	api     *api
	clients sync.WaitGroup
	skew    atomic.Int64 // how far the store's clock is ahead

	// The rest is read and written by others too.
	disk         disk
	mailServer   mailServer
	interleaving interleaving
	calmAt       time.Time      // when the effects of what went wrong are over
	pending      []*transaction // those that the next commit writes
	orgs         []*org
	endpoints    []*endpoint
	deliveries   []*modelDelivery // in the order of their commits, dropped ones too
	byID         map[string]*modelDelivery
	byEvent      map[string][]*modelDelivery
	mails        map[string]*modelMail
	answers      map[string]store.IdempotencyRecord // by key
	replays      map[string]*modelReplay            // by id
	asked        map[string]*endpoint               // by key
	claimed      map[string]*modelDelivery
	happened     int // commits and releases
	sum          struct{ attempts, crashes, searches, stops, faults, disabled, sent int }
}

func newWorld(t *testing.T, seed uint64, in engine) *world {
	w := &world{
		T: t, Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, engine: in,
		chronicle: newChronicle(), disk: newDisk(seed), interleaving: newInterleaving(seed),
		byID: map[string]*modelDelivery{}, byEvent: map[string][]*modelDelivery{}, mails: map[string]*modelMail{},
		answers: map[string]store.IdempotencyRecord{}, asked: map[string]*endpoint{}, claimed: map[string]*modelDelivery{}, replays: map[string]*modelReplay{},
	}
	w.retention = pick(w.Rand, []time.Duration{12 * time.Hour, 36 * time.Hour, store.DefaultDeliveryRetention})
	w.config.PerEndpoint = pick(w.Rand, []int{8, delivery.DefaultPerEndpoint})
	if w.config.Total = delivery.DefaultTotal; w.IntN(4) == 0 {
		w.config.Total = 2 + w.IntN(12)
	}
	w.roomy = w.config.Total == delivery.DefaultTotal
	return w
}

// live runs the simulation until all has settled.
func (w *world) live() {
	defer w.report()
	defer w.end()
	w.open()
	kit.Must(w, w.engine.age(w))
	w.setUp()
	w.start()
	for range steps {
		if w.step(); w.isBroken() {
			return
		}
	}
	w.settle()
}

// step lets some things happen at once, and some time pass.
func (w *world) step() {
	for range 1 + w.IntN(4) {
		w.clientAction()
	}
	for range w.IntN(3) {
		w.aConsumer(pick(w.Rand, w.orgs))
	}
	if w.IntN(3) > 0 {
		synctest.Wait()
	}
	w.injectFault()
	w.rest(w.pause())
	w.checkOverdue()
}

// pause is how long nothing is done.
func (w *world) pause() time.Duration {
	most := pick(w.Rand, []time.Duration{
		0, 50 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second,
		2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour,
	})
	return upTo(w.Rand, most+1)
}

// rest lets time pass, and what comes up run to its end.
func (w *world) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			synctest.Wait()
			return
		case <-w.over:
			return
		case <-w.disk.died:
			w.crash("the program is killed")
		}
	}
}

// clock is the store's.
func (w *world) clock() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }

// client does something as a client does, beside all others.
func (w *world) client(fn func(ctx context.Context)) {
	w.clients.Go(func() { fn(context.Background()) })
}

// name makes up a name.
func (w *world) name(prefix string) string {
	w.made++
	return fmt.Sprintf("%s%03d", prefix, w.made)
}

// settle ends all faults, queues again what failed, and waits until everything has
// arrived.
func (w *world) settle() {
	w.endFaults()
	w.rest(time.Minute)
	w.replayAll()
	w.drain()
	w.rest(11 * time.Hour) // until mail is tried again, and what waited at removed endpoints was due
	if w.checkOverdue(); !w.isBroken() {
		w.checkSettled()
	}
	if w.IntN(2) == 0 {
		w.crash("killed at the end")
	} else {
		w.stop(time.Minute)
	}
	w.readAll()
	w.compare()
}

// end stops what runs, whatever happened.
func (w *world) end() {
	if w.process != nil {
		w.process.end(0)
	}
	w.clients.Wait()
	w.store.Close()
}

// endFaults ends all faults, and makes every receiver healthy.
func (w *world) endFaults() {
	w.mu.Lock()
	w.interleaving.over = true
	w.mu.Unlock()
	w.clients.Wait()
	w.skew.Store(0)
	w.mu.Lock()
	if w.disk.dead {
		w.mu.Unlock()
		w.crash("the program is killed")
		w.mu.Lock()
	}
	w.disk.dieAfter, w.disk.faultEnds, w.mailServer.failing = 0, time.Time{}, 0
	for _, e := range w.endpoints {
		e.character.kind = healthy
	}
	w.calmAt = time.Now().Add(hiccup + deadline) // attempts to receivers that hang may be in flight
	w.noteLocked("all faults end")
	w.mu.Unlock()
	w.rest(time.Minute)
	for _, o := range w.orgs {
		w.changePlan(o, "team")
	}
	for _, o := range w.orgs {
		for _, e := range o.endpoints {
			w.enable(e)
		}
	}
	w.clients.Wait()
}

func (w *world) replayAll() {
	for _, o := range w.orgs {
		for _, e := range o.endpoints {
			w.replaySince(e, w.born)
		}
	}
	w.sweep()
	w.clients.Wait()
}

// checkSettled checks what is left when all has settled: nothing waits, and the
// dispatcher remembers hardly anything.
func (w *world) checkSettled() {
	synctest.Wait()
	queues, timers, notices := w.process.dispatcher.Held()
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.endpoints); queues > n || timers > 0 || notices > 0 {
		w.breaksLocked(memory, "for %d endpoints that have nothing to do there are %d queues, %d timers and %d notices", n, queues, timers, notices)
	}
	for _, p := range w.deliveries {
		switch t := p.lastTry(); {
		case p.gone, p.to.removedBy != nil:
		case p.to.pull:
			if p.state != store.StateAcknowledged || len(p.hands) == 0 {
				w.breaksLocked(arrival, "%s to %s is %s in the end, and consumers got it %d times", p.name, p.to.name, p.state, len(p.hands))
			}
		case p.state != store.StateAcknowledged || t == nil || !t.acked || !t.received:
			w.breaksLocked(arrival, "%s to %s is %s in the end", p.name, p.to.name, p.state)
		}
	}
	for _, l := range w.mails {
		if !l.gone {
			w.breaksLocked(disabling, "the mail %s to %s was not sent in the end", l.id, l.to)
		}
	}
}

// checkReleased checks that a process that ended released all its claims.
func (w *world) checkReleased(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, in := range w.claimed {
		w.breaksLocked(schedule, "%s was not released when the dispatcher ended", in.name)
	}
	clear(w.claimed)
	for _, e := range w.endpoints {
		e.claimed = 0
	}
	w.pending = nil
}

// checkLostOutcomes looks for attempts that ended within the grace of a stop,
// but whose outcomes were not written.
func (w *world) checkLostOutcomes(p *process, calm bool) {
	if p.err != nil {
		w.breaks(schedule, "the dispatcher was stopped, and ended with %v", p.err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.deliveries {
		t := d.lastTry()
		if t != nil && !d.gone && t.process == p.number && t.over && !t.recorded && t.end.Before(p.graceEndsAt.Add(-time.Second)) && calm {
			w.breaksLocked(duplicates, "the outcome of an attempt of %s is lost, which ended %s before the grace did", d.name, p.graceEndsAt.Sub(t.end))
		}
	}
}
