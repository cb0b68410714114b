package delivery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/delivery"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// steps is how often something is done before a world settles.
const steps = 70

// world is one simulated installation, with everybody around it.
type world struct {
	*testing.T
	*rand.Rand // what happens when; it belongs to the world's own goroutine
	seed       uint64
	path       string
	config     delivery.Config
	roomy      bool // so much may be in flight that no endpoint waits for room
	retention  time.Duration
	born       time.Time
	made       int // names that were made up
	places     int // addresses that were made up
	store      *boltstore.Store
	process    *process
	desk       *desk
	clients    sync.WaitGroup
	skew       atomic.Int64 // how far the store's clock is ahead

	mu        sync.Mutex // guards what follows, which others read and write too
	history   []entry
	broken    string        // the promise that did not hold, and how
	over      chan struct{} // closed when one is broken
	disk      disk
	post      post
	haste     haste
	calmAt    time.Time // when the effects of what went wrong are over
	pending   []*act    // those that the next commit writes
	orgs      []*org
	endpoints []*endpoint
	parcels   []*parcel // in the order of their commits, dropped ones too
	byID      map[string]*parcel
	byEvent   map[string][]*parcel
	mails     map[string]*letter
	answers   map[string]store.IdempotencyRecord // by key
	asked     map[string]*endpoint               // by key
	inHand    map[string]*parcel
	happened  int // commits and releases
	sum       struct{ attempts, crashes, stops, faults, disabled, sent int }
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		T: t, Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, path: filepath.Join(t.TempDir(), "teamdata.db"),
		born: time.Now(), over: make(chan struct{}), disk: newDisk(seed), haste: newHaste(seed),
		byID: map[string]*parcel{}, byEvent: map[string][]*parcel{}, mails: map[string]*letter{},
		answers: map[string]store.IdempotencyRecord{}, asked: map[string]*endpoint{}, inHand: map[string]*parcel{},
	}
	w.retention = pick(w.Rand, []time.Duration{12 * time.Hour, 36 * time.Hour, store.DefaultDeliveryRetention})
	w.config.PerEndpoint = pick(w.Rand, []int{8, delivery.DefaultPerEndpoint})
	if w.config.Total = delivery.DefaultTotal; w.IntN(4) == 0 {
		w.config.Total = 2 + w.IntN(12)
	}
	w.roomy = w.config.Total == delivery.DefaultTotal
	return w
}

// live is a world's life, from its founding until all has settled.
func (w *world) live() {
	defer w.report()
	defer w.end()
	w.open()
	w.found()
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
		w.act()
	}
	if w.IntN(3) > 0 {
		synctest.Wait()
	}
	w.trouble()
	w.rest(w.pause())
	w.look()
}

// pause is how long nobody does anything.
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

// settle ends all that went wrong, lets people mend what is left, and waits
// until everything has arrived.
func (w *world) settle() {
	w.mend()
	w.rest(time.Minute)
	w.recoverAll()
	w.rest(11 * time.Hour) // until mail is tried again, and what waited at removed endpoints was due
	if w.look(); !w.isBroken() {
		w.lookAtTheEnd()
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
