package delivery

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/delivery/egress"
	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// paced is a dispatcher in a bubble, on a disk whose commits take a while, with receivers
// that take a while too and note when the attempts began.
type paced struct {
	*env
	*Dispatcher
	takes time.Duration // the receivers

	mu         sync.Mutex
	began      map[string][]time.Time // by endpoint
	inFlight   map[string]int
	mostAtOnce map[string]int
}

func newPaced(t *testing.T, takes time.Duration) *paced {
	p := &paced{takes: takes, began: map[string][]time.Time{}, inFlight: map[string]int{}, mostAtOnce: map[string]int{}}
	s, err := boltstore.Open(t.TempDir()+"/teamdata.db", boltstore.Options{NoSync: true, BeforeCommit: func() error {
		time.Sleep(3 * time.Millisecond)
		return nil
	}})
	kit.Must(t, err)
	p.env = &env{TB: t, store: storetest.Scoped(t, s)}
	t.Cleanup(func() { s.Close() })
	p.update(func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: testOrg, Name: "Test"})
		return err
	})
	p.Dispatcher = New(p.env.store, Config{})
	p.send = p.receive
	return p
}

func (p *paced) receive(_ context.Context, e *store.Endpoint, _ *store.Claim) (store.Attempt, string) {
	p.note(e.ID, 1)
	a := store.Attempt{StartedAt: time.Now(), Status: 204}
	time.Sleep(p.takes)
	a.EndedAt = time.Now()
	p.note(e.ID, -1)
	return a, Outcomes[0]
}

func (p *paced) note(id string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 0 {
		p.began[id] = append(p.began[id], time.Now().Truncate(time.Millisecond))
	}
	p.inFlight[id] += n
	p.mostAtOnce[id] = max(p.mostAtOnce[id], p.inFlight[id])
}

// most is how many attempts were in flight at once since it was asked last.
func (p *paced) most(id string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, p.mostAtOnce[id] = p.mostAtOnce[id], 0
	return n
}

func (p *paced) with(o store.SendOptions) (e store.Endpoint) {
	e = p.endpoint("https://r.test")
	p.set(e, o)
	return e
}

func (p *paced) set(e store.Endpoint, o store.SendOptions) {
	p.update(func(tx store.Tx) error {
		e, err := tx.Endpoint(testOrg, e.ID)
		if err != nil {
			return err
		}
		e.Sending = o
		return tx.PutEndpoint(e)
	})
}

// starts begins to send, and returns what ends that.
func (p *paced) starts() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { p.Run(ctx, ctx) })
	return func() { cancel(); ended.Wait() }
}

func (p *paced) after(d time.Duration, id string) (began []time.Time) {
	time.Sleep(d)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.began[id])
}

// mostWithin is how many attempts began in one sliding period, at most.
func mostWithin(began []time.Time, per time.Duration) (most int) {
	first := 0
	for i, at := range began {
		for at.Sub(began[first]) >= per {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// Under a backlog, never more attempts begin in a sliding second than the rate allows, and
// hardly fewer, also when the dispatcher is ended and another one goes on. Meanwhile another
// endpoint gets at once what it is to get.
func TestRateUnderBacklog(t *testing.T) {
	for rate, n := range map[string]int{"10/s": 10, "100/s": 100, "1/s": 1} {
		t.Run(rate, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPaced(t, 20*time.Millisecond)
				e, other := p.with(store.SendOptions{Rate: rate}), p.endpoint("https://other.test")
				p.sendTests([]string{e.ID}, 25*n)
				stop := p.starts()
				for range 10 {
					time.Sleep(time.Second)
					queued := time.Now()
					p.sendTest(other.ID)
					began := p.after(100*time.Millisecond, other.ID)
					if late := began[len(began)-1].Sub(queued); late > 10*time.Millisecond {
						t.Errorf("another endpoint got its event after %s", late)
					}
				}
				began := p.after(0, e.ID)
				if most := mostWithin(began, time.Second); most > n {
					t.Errorf("%d began within a second", most)
				}
				if least := int(0.95 * float64(n) * 11); len(began) < min(least, 11*n) {
					t.Errorf("%d began in 11 s", len(began))
				}
				stop()
				p.Dispatcher = New(p.env.store, Config{})
				p.send = p.receive
				stop = p.starts()
				began = p.after(12*time.Second, e.ID)
				if most := mostWithin(began, time.Second); most > n {
					t.Errorf("%d began within a second, with another dispatcher", most)
				}
				if least := int(0.95 * float64(n) * 20); len(began) < least {
					t.Errorf("%d began in 23 s", len(began))
				}
				t.Logf("%d attempts in 23 s, and at most %d in a second", len(began), mostWithin(began, time.Second))
				stop()
			})
		})
	}
}

// A rate that is changed or removed is so at once, and so is a cap of attempts in flight.
func TestOptionsChangeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPaced(t, 50*time.Millisecond)
		e := p.with(store.SendOptions{Rate: "1/h", MaxInFlight: 3})
		p.sendTests([]string{e.ID}, 2000)
		stop := p.starts()
		if began := p.after(time.Minute, e.ID); len(began) != 1 {
			t.Errorf("%d began by 1/h", len(began))
		}
		p.set(e, store.SendOptions{Rate: "5/s", MaxInFlight: 3})
		if began := p.after(2*time.Second, e.ID); len(began) < 9 || len(began) > 12 {
			t.Errorf("%d began, by 5/s for 2 s", len(began))
		}
		p.set(e, store.SendOptions{MaxInFlight: 3})
		if began := p.after(2*time.Second, e.ID); len(began) < 100 {
			t.Errorf("%d began, without a rate for 2 s", len(began))
		}
		if most := p.most(e.ID); most != 3 {
			t.Errorf("%d were in flight", most)
		}
		p.set(e, store.SendOptions{})
		p.after(2*time.Second, e.ID)
		if most := p.most(e.ID); most != DefaultPerEndpoint {
			t.Errorf("%d were in flight without a cap", most)
		}
		p.set(e, store.SendOptions{MaxInFlight: 1})
		p.after(time.Second, e.ID)
		p.most(e.ID)
		p.after(2*time.Second, e.ID)
		if most := p.most(e.ID); most != 1 {
			t.Errorf("%d were in flight with a cap of 1", most)
		}
		stop()
	})
}

// An attempt that came to nothing because the proxy has failed, or for lack of a resource, takes
// nothing of the rate, and lets no more begin than the rate allows.
func TestRateOfAttemptsGivenBack(t *testing.T) {
	t.Run("the proxy was down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var up atomic.Bool
			proxy, err := egress.New(egress.Config{URL: "http://proxy.corp:3128", Dial: func(context.Context, string, string) (net.Conn, error) {
				if !up.Load() {
					return nil, errors.New("nobody listens")
				}
				near, far := net.Pipe()
				go afterRequest(saysAndCloses("HTTP/1.1 502 x\r\n\r\n"))(far)
				return near, nil
			}})
			kit.Must(t, err)
			p := newPaced(t, 0)
			p.Dispatcher = New(p.env.store, Config{Proxy: proxy})
			e := p.endpoint("https://" + public)
			p.set(e, store.SendOptions{Rate: "2/h"})
			stop := p.starts()
			var sent []store.Delivery
			for range 5 {
				sent = append(sent, p.sendTest(e.ID))
				p.after(time.Minute, e.ID)
			}
			if n := p.GivenBack(); n < 5 {
				t.Errorf("%d were given back", n)
			}
			up.Store(true)
			p.after(time.Minute, e.ID)
			var attempts int
			for _, s := range sent {
				attempts += p.delivery(s.ID).Attempts
			}
			if attempts != 2 {
				t.Errorf("%d attempts within a minute of the proxy's return, by 2/h", attempts)
			}
			stop()
		})
	})
	t.Run("any of them", func(t *testing.T) {
		random := kit.Random(t)
		synctest.Test(t, func(t *testing.T) {
			p := newPaced(t, 20*time.Millisecond)
			var mu sync.Mutex
			p.send = func(ctx context.Context, e *store.Endpoint, c *store.Claim) (store.Attempt, string) {
				mu.Lock()
				back, takes := random.IntN(3) == 0, time.Duration(random.IntN(1500))*time.Millisecond
				mu.Unlock()
				if back {
					time.Sleep(takes)
					return store.Attempt{}, outcomeBehind
				}
				return p.receive(ctx, e, c)
			}
			proxy, err := egress.New(egress.Config{URL: "http://proxy.corp:3128"})
			kit.Must(t, err)
			p.config.Proxy = proxy
			e := p.with(store.SendOptions{Rate: "10/s"})
			p.sendTests([]string{e.ID}, 400)
			stop := p.starts()
			began := p.after(20*time.Second, e.ID)
			if most := mostWithin(began, time.Second); most > 10 {
				t.Errorf("%d began within a second", most)
			}
			if len(began) < 100 {
				t.Errorf("%d began in 20 s", len(began))
			}
			t.Logf("%d began in 20 s", len(began))
			stop()
		})
	})
}

// Of a reservation that another one has replaced, nothing is given back.
func TestGivenBackTooLate(t *testing.T) {
	now := time.Now()
	p := newPacer()
	reserve := func() {
		from := now.UTC().Truncate(time.Millisecond)
		p.reserved(store.Reservation{Rate: "20/s", Reserved: store.Grant{From: from, To: from.Add(time.Second), N: 2}}, nil, now)
	}
	clock := func() time.Time { return now }
	reserve()
	first, second := p.begin(clock, "20/s"), p.begin(clock, "20/s")
	if p.giveBack(first); p.left != 1 {
		t.Errorf("%d are left of 2 of which one was given back", p.left)
	}
	now = now.Add(time.Second)
	reserve()
	third := p.begin(clock, "20/s")
	if p.giveBack(second); p.left != 1 || first.IsZero() || second.IsZero() || third.IsZero() {
		t.Errorf("%d are left of a reservation of 2 that one began of", p.left)
	}
}
