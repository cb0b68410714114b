package delivery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

var fleets = kit.NewSeeds("simulation.fleets", 1)

// TestSimulationOverNodes lets some minutes pass for one to four nodes on one
// database, while nodes are killed, stopped, paused for longer than a lease and cut off,
// commits fail, and the database's clock is set. Consumers pull at any of the nodes. The
// stores, their database and the dispatchers are the real ones. The time is the
// simulation's, also that of the database, whose now() and clock_timestamp() are replaced;
// nodes hear of each other by polling alone, since time can't pass while somebody listens.
//
//	go test -race ./delivery -run '^TestSimulationOverNodes$' -args -simulation.fleets=100
func TestSimulationOverNodes(t *testing.T) {
	server := postgres.Shared(t)
	fleets.Run(t, func(t *testing.T, seed uint64) {
		t.Parallel()
		database := server.Database(t)
		postgres.Exec(t, database, simulatedClock)
		var proxies []*postgres.Proxy
		for range 1 + seed%4 {
			proxies = append(proxies, postgres.NewProxy(t, server))
		}
		synctest.Test(t, func(t *testing.T) { newFleet(t, seed, database, proxies).live() })
	})
}

// fleet is some nodes on one database, with everybody around them.
type fleet struct {
	*testing.T
	*rand.Rand // what happens when; it belongs to the fleet's own goroutine
	chronicle
	seed      uint64
	nodes     []*fleetNode
	database  *clockedDatabase
	schedule  []time.Duration
	orgs      []string
	endpoints []*endpoint
	readers   []*reader
	clients   sync.WaitGroup
	keys      int // that were made up
	processes int

	// The rest is read and written by others too.
	byNumber map[uint64]*endpoint
	parcels  map[string]*parcel
	asked    map[string]*wish // by key
	handed   []*parcel        // that were handed to consumers, each once
	perhaps  map[string]int   // leases that were granted and not told, or not granted, by delivery
	moments  int              // that were counted
	setBack  int              // the moment when the clock was set back last
	clockWas time.Time        // the latest time that the clock was set back from
	turn     int              // of the node that is asked next
	calmAt   time.Time        // when the effects of what went wrong are over
	jumps    int              // of the database's clock
	holder   context.Context  // of the job that one node does
	settled  bool
	sum      struct{ accepted, attempts, twice, fenced, unsure, faults, handed, again, refused int }
}

func newFleet(t *testing.T, seed uint64, url string, proxies []*postgres.Proxy) *fleet {
	f := &fleet{
		T: t, Rand: rand.New(rand.NewPCG(seed, 3)), chronicle: newChronicle(), seed: seed, database: connectClocked(t, url),
		schedule: []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second},
		byNumber: map[uint64]*endpoint{}, parcels: map[string]*parcel{}, asked: map[string]*wish{}, perhaps: map[string]int{},
	}
	for i, proxy := range proxies {
		f.nodes = append(f.nodes, &fleetNode{f: f, name: fmt.Sprintf("node-%d", i), proxy: proxy, url: proxy.URL(postgres.Name(t, url)) + "&" + simulatedPath})
	}
	return f
}

// live runs the simulation until all has settled.
func (f *fleet) live() {
	defer f.report()
	defer f.end()
	for _, n := range f.nodes {
		n.start()
		if n == f.nodes[0] {
			f.setUp()
		}
	}
	for range 20 {
		if f.step(); f.isBroken() {
			return
		}
	}
	f.settle()
}

// setUp makes the orgs and their endpoints.
func (f *fleet) setUp() {
	err := f.nodes[0].process.store.Update(f.Context(), store.All, func(tx store.Tx) error {
		for i := range 3 {
			o := fmt.Sprintf("org_%d", i+1)
			if _, err := store.ImportOrg(tx, store.Org{ID: o, Name: o}); err != nil {
				return err
			}
			f.orgs = append(f.orgs, o)
			f.readers = append(f.readers, &reader{org: o})
			for n := range 2 + f.IntN(5) {
				if err := f.addEndpoint(tx, o, n == 0 || f.IntN(4) == 0); err != nil {
					return err
				}
			}
		}
		return nil
	})
	kit.Must(f, err)
}

func (f *fleet) addEndpoint(tx store.Tx, org string, pull bool) error {
	n := len(f.endpoints) + 1
	e := &endpoint{orgID: org, character: newCharacter(f.Rand), pull: pull}
	e.character.from, e.character.to = upTo(f.Rand, 5*time.Minute), 10*time.Minute
	e.name = fmt.Sprintf("e%d(%s)", n, e.character.kind)
	wish := store.Endpoint{OrgID: org, Events: []string{"file.uploaded", "webhook.test"}}
	if pull {
		e.name = fmt.Sprintf("e%d(pulled)", n)
	} else {
		wish.URL = fmt.Sprintf("https://e%d.example/hook", n)
	}
	made, err := store.ImportEndpoint(tx, wish)
	e.id, e.number = made.ID, made.Number
	f.endpoints = append(f.endpoints, e)
	f.byNumber[e.number] = e
	return err
}

// step lets some things happen at once, and some time pass.
func (f *fleet) step() {
	for range 1 + f.IntN(6) {
		f.clientAction()
	}
	for range 2 + f.IntN(8) {
		f.consumerAction()
	}
	if f.IntN(3) > 0 {
		synctest.Wait()
	}
	if f.IntN(3) == 0 {
		f.injectFault()
	}
	f.rest(upTo(f.Rand, 1+pick(f.Rand, []time.Duration{0, 50 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second, time.Minute, 2 * time.Minute})))
	f.checkOverdue()
}

// rest lets time pass, and starts the nodes that are to be there again.
func (f *fleet) rest(d time.Duration) {
	end := time.Now().Add(d)
	for !f.isBroken() {
		next := end
		for _, n := range f.nodes {
			if n.process == nil && n.startAt.Before(next) {
				next = n.startAt
			}
		}
		select {
		case <-time.After(time.Until(next)):
		case <-f.over:
			return
		}
		for _, n := range f.nodes {
			if n.process == nil && !n.startAt.After(time.Now()) {
				n.start()
			}
		}
		if next.Equal(end) {
			synctest.Wait()
			return
		}
	}
}

// settle ends all faults, queues again what failed, and waits until all has arrived.
func (f *fleet) settle() {
	f.note("all faults end")
	for _, n := range f.nodes {
		n.startAt = time.Now()
	}
	f.setClock(0)
	f.rest(3 * time.Minute) // until the last one has ended
	f.clients.Wait()
	f.mu.Lock()
	for _, e := range f.endpoints {
		e.character.kind = healthy
	}
	f.settled = true
	f.mu.Unlock()
	f.rest(time.Minute)
	s := f.nodes[0].process.store
	for _, e := range f.endpoints {
		err := s.Update(f.Context(), store.InOrg(e.orgID), func(tx store.Tx) error { return store.EnableEndpoint(tx, "", e.orgID, e.id) })
		if err == nil {
			err = s.Update(f.Context(), store.InOrg(e.orgID), func(tx store.Tx) error {
				_, err := store.StartReplay(tx, "", store.ReplayJob{OrgID: e.orgID, Filter: store.DeliveryFilter{Endpoint: e.id, Since: f.born.Add(-maxJump)}})
				return err
			})
		}
		if err == nil {
			err = store.RunReplays(f.Context(), s)
		}
		if err != nil {
			f.breaks(commits, "%s can't be replayed: %v", e.name, err)
		}
	}
	f.rest(2 * time.Minute)
	f.drain()
	if f.checkOverdue(); !f.isBroken() {
		f.compare()
	}
}

// end stops what runs, whatever happened.
func (f *fleet) end() {
	for _, n := range f.nodes {
		n.heal()
		if p := n.process; p != nil {
			p.end(0)
			p.store.Close()
		}
	}
	f.clients.Wait()
	f.database.close()
}

func (f *fleet) report() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Logf("%d nodes, %d endpoints, %+v", len(f.nodes), len(f.endpoints), f.sum)
	if fleets.Alone() {
		f.Logf("all that happened:\n%s", tell(f.history))
	}
	if f.broken != "" {
		f.Error(f.story())
	}
}
