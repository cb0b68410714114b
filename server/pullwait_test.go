package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

const waiting = `{"waitSeconds":60}`

// onEach runs a test with a consumer on HTTP/1.1 and on HTTP/2, over TLS.
func onEach(t *testing.T, test func(t *testing.T, c *consumer)) {
	for _, http2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "http1", true: "http2"}[http2], func(t *testing.T) {
			env := newPullEnv(t, Config{})
			test(t, env.newConsumer(http2))
		})
	}
}

func TestCommitWakes(t *testing.T) {
	onEach(t, func(t *testing.T, c *consumer) {
		answer := c.pulling(t.Context(), "whe_pull", "key_pull", waiting)
		c.waitForWaiting(1)
		c.send("whe_second", 1)
		id := c.send("whe_pull", 1)[0]
		c.wantPulled(c.answered(answer), id)
		c.waitForWaiting(0)
	})
}

// A lease that ends, or a delay, wakes by itself.
func TestDueTimeWakes(t *testing.T) {
	onEach(t, func(t *testing.T, c *consumer) {
		id := c.send("whe_pull", 1)[0]
		d := c.pull("whe_pull", "key_pull", `{"leaseSeconds":5}`).Deliveries[0]
		c.Advance(5*time.Second - time.Millisecond)
		answer := c.pulling(t.Context(), "whe_pull", "key_pull", waiting)
		c.waitForWaiting(1)
		c.Advance(time.Millisecond)
		again := c.answered(answer)
		c.wantPulled(again, id)
		if again.Deliveries[0].Lease == d.Lease {
			t.Error("the lease is the ended one")
		}
		d = again.Deliveries[0]
		answer = c.pulling(t.Context(), "whe_pull", "key_pull", waiting)
		c.waitForWaiting(1)
		// The delay ends before the lease would have.
		if a := c.pull("whe_pull/nack", "key_pull", `{"deliveries":[{"id":"`+id+`","lease":"`+d.Lease+`"}],"delaySeconds":1}`); a.code != http.StatusOK {
			t.Fatalf("%+v", a)
		}
		c.Advance(time.Second - time.Millisecond)
		c.server.Due(store.FirstPull, time.Time{}) // as when the clock was moved
		c.Advance(time.Millisecond)
		c.wantPulled(c.answered(answer), id)
	})
}

// A clock that a test moves wakes who waits for a time.
func TestMovedClockWakes(t *testing.T) {
	env := newPullEnv(t, Config{})
	id := env.send("whe_pull", 1)[0]
	env.pull("whe_pull", "key_pull", `{"leaseSeconds":3600}`)
	answer := env.newConsumer(false).pulling(t.Context(), "whe_pull", "key_pull", waiting)
	env.waitForWaiting(1)
	env.Advance(time.Hour)
	env.server.Due(store.FirstPull, env.Now())
	env.wantPulled(env.answered(answer), id)
}

// Each commit wakes one of those who wait, the one who came first, and one that leaves more
// than it may take wakes the next.
func TestOneWakeOneWaiter(t *testing.T) {
	env := newPullEnv(t, Config{})
	var looks atomic.Int64
	env.server.store = looking{env.server.store, &looks}
	c := env.newConsumer(false)
	var answers []<-chan pullAnswer
	for i := range 5 {
		answers = append(answers, c.pulling(t.Context(), "whe_pull", "key_pull", `{"waitSeconds":60,"limit":2}`))
		env.waitForWaiting(i + 1)
	}
	before := looks.Load()
	for i := range 2 {
		ids := env.send("whe_pull", 1)
		env.wantPulled(env.answered(answers[i]), ids...)
		env.waitForWaiting(4 - i)
	}
	if n := looks.Load() - before; n > 4 { // that of the one who is woken, and that of the next one
		t.Errorf("two deliveries for five who wait cost %d looks", n)
	}
	ids := env.send("whe_pull", 5)
	for i, want := range [][]string{ids[:2], ids[2:4], ids[4:]} {
		env.wantPulled(env.answered(answers[2+i]), want...)
	}
	env.waitForWaiting(0)
}

// looking counts Views.
type looking struct {
	store.Store
	n *atomic.Int64
}

func (l looking) View(ctx context.Context, fn func(store.Tx) error) error {
	l.n.Add(1)
	return l.Store.View(ctx, fn)
}

// A client that goes away ends its wait at once, and is not the one who is woken.
func TestClientGoneWhileItWaits(t *testing.T) {
	onEach(t, func(t *testing.T, c *consumer) {
		ctx, cancel := context.WithCancel(t.Context())
		first := c.pulling(ctx, "whe_pull", "key_pull", waiting)
		c.waitForWaiting(1)
		second := c.pulling(t.Context(), "whe_pull", "key_pull", waiting)
		c.waitForWaiting(2)
		cancel()
		<-first
		c.waitForWaiting(1)
		ids := c.send("whe_pull", 1)
		c.wantPulled(c.answered(second), ids...)
		if log := c.LogOutput.String(); strings.Contains(log, "request") {
			t.Errorf("the log has %s", log)
		}
	})
}

// A server that stops answers all who wait at once.
func TestShutdownAnswersWaiting(t *testing.T) {
	onEach(t, func(t *testing.T, c *consumer) {
		var answers []<-chan pullAnswer
		for i := range 3 {
			answers = append(answers, c.pulling(t.Context(), "whe_pull", "key_pull", waiting))
			c.waitForWaiting(i + 1)
		}
		stopped := make(chan error, 1)
		began := time.Now()
		go func() { stopped <- c.server.Shutdown(t.Context()) }()
		for _, answer := range answers {
			if a := c.answered(answer); a.code != http.StatusOK || a.Deliveries == nil || len(a.Deliveries) > 0 {
				t.Errorf("answered %+v", a)
			}
		}
		if err := <-stopped; err != nil || time.Since(began) > 15*time.Second {
			t.Errorf("stopped after %v: %v", time.Since(began), err)
		}
	})
}

// The wait may be longer than a request may otherwise take.
func TestWaitOutlastsTimeouts(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		env := newPullEnv(t, Config{})
		env.server.http.ReadTimeout, env.server.http.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
		c, began := env.newConsumer(http2), time.Now()
		a := c.answered(c.pulling(t.Context(), "whe_pull", "key_pull", `{"waitSeconds":1}`))
		if took := time.Since(began); a.code != http.StatusOK || took < time.Second || a.Deliveries == nil {
			t.Errorf("answered %+v after %v", a, took)
		}
	}
}

// What a key may no longer do it may not do when it is woken, either.
func TestKeyIsCheckedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		change func(store.Tx) error
		want   store.Code
	}{
		"revoked": {func(tx store.Tx) error { return store.RevokeKey(tx, "usr_ada", "org_acme", "key_pull") }, store.CodeUnauthorized},
		"plan": {func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Product: "teamdata", Plan: "readers", Interval: "month", Status: "active"})
			return err
		}, store.CodeUpgradeRequired},
		"disabled": {func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_pull") }, store.CodeConflict},
		"removed":  {func(tx store.Tx) error { return store.RemoveEndpoint(tx, "usr_ada", "org_acme", "whe_pull") }, store.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			env := newPullEnv(t, Config{})
			answer := env.newConsumer(false).pulling(t.Context(), "whe_pull", "key_pull", waiting)
			env.waitForWaiting(1)
			env.Update(row.change)
			env.server.Due(store.FirstPull, time.Time{})
			if a := env.answered(answer); a.Error.Code != string(row.want) {
				t.Errorf("got %+v, want %s", a, row.want)
			}
		})
	}
}

// A request whose key has lost its access ends although nothing is due, whoever was before
// it; the others wait on.
func TestLostAccessEndsWait(t *testing.T) {
	for name, change := range map[string]func(store.Tx) error{
		"revoked": func(tx store.Tx) error { return store.RevokeKey(tx, "usr_ada", "org_acme", "key_bobs") },
		"demoted": func(tx store.Tx) error { return changeRole(tx, "usr_ada", "org_acme", "usr_bob", "member") },
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, c *consumer) {
				c.Update(func(tx store.Tx) error {
					_, err := store.ImportKey(tx, store.APIKey{ID: "key_bobs", OrgID: "org_acme", Scopes: store.ScopeReceive, CreatedBy: "usr_bob", SecretHash: store.HashSecret(fixtureSecret)})
					return err
				})
				first := c.pulling(t.Context(), "whe_pull", "key_pull", waiting)
				c.waitForWaiting(1)
				second := c.pulling(t.Context(), "whe_pull", "key_bobs", waiting)
				c.waitForWaiting(2)
				c.Update(change)
				if a := c.answered(second); a.Error.Code != string(store.CodeUnauthorized) {
					t.Errorf("got %+v", a)
				}
				c.waitForWaiting(1)
				ids := c.send("whe_pull", 1)
				c.wantPulled(c.answered(first), ids...)
			})
		})
	}
}

// Every delivery comes to exactly one of many who wait, and each wake is passed on.
func TestManyWait(t *testing.T) {
	env := newPullEnv(t, Config{})
	const consumers, events = 8, 200
	var mu sync.Mutex
	got := map[string]int{}
	done := make(chan struct{})
	var running sync.WaitGroup
	for range consumers {
		c := env.newConsumer(false)
		running.Go(func() {
			for {
				a, ok := <-c.pulling(t.Context(), "whe_pull", "key_pull", `{"waitSeconds":1,"limit":3}`)
				if !ok || a.code != http.StatusOK {
					t.Errorf("got %+v", a)
					return
				}
				mu.Lock()
				for _, id := range a.ids() {
					got[id]++
				}
				all := len(got) == events
				mu.Unlock()
				if all {
					select {
					case <-done:
					default:
						close(done)
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range events / 4 {
		env.send("whe_pull", 4)
	}
	running.Wait()
	for id, n := range got {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
}

// A time that was told is not forgotten for one that comes later, and a clock that was set is
// noticed within 30 s.
func TestPullLineRings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		p := newPullWaiters(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
		w := p.join(7)
		p.looked(w, time.Time{})
		began := time.Now()
		p.due(7, began.Add(time.Hour))
		p.due(7, began.Add(10*time.Second))
		p.due(7, began.Add(time.Minute))
		p.due(8, began)
		<-w.wake
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it rang after %v", took)
		}
		p.looked(w, began.Add(time.Hour))
		ahead.Store(int64(time.Hour))
		<-w.wake
		if took := time.Since(began); took != 40*time.Second {
			t.Errorf("the clock was noticed after %v", took)
		}
		p.looked(w, time.Time{})
		p.leave(w)
		if len(p.lines) > 0 {
			t.Errorf("left are %v", p.lines)
		}
	})
}

// A wake reaches somebody, whoever leaves and whenever it comes.
func TestWakeIsNotSwallowed(t *testing.T) {
	now := time.Now()
	told := func(w *pullWaiter) bool { return len(w.wake) > 0 }
	for name, test := range map[string]func(p *pullWaiters, first, second *pullWaiter) (wakes *pullWaiter){
		"the first is told": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.due(1, now)
			return first
		},
		"it leaves, told": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.due(1, now)
			p.leave(first)
			return second
		},
		"it leaves with what it got": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.due(1, now)
			<-first.wake
			p.leave(first)
			return second
		},
		"it is told while it looks, of which it knows nothing": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.due(1, now)
			p.looked(first, time.Time{}) // what it had begun before
			p.leave(first)
			return second
		},
		"something comes while it looks": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.due(1, now)
			<-first.wake
			p.due(1, now)
			p.looked(first, time.Time{})
			return first
		},
		"something comes while it looks, and it leaves": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.due(1, now)
			<-first.wake
			p.due(1, now)
			p.leave(first)
			return second
		},
		"the second leaves": func(p *pullWaiters, first, second *pullWaiter) *pullWaiter {
			p.leave(second)
			p.due(store.FirstPull, time.Time{})
			return first
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPullWaiters(time.Now)
			first, second := p.join(1), p.join(1)
			p.looked(first, time.Time{})
			p.looked(second, time.Time{})
			wakes := test(&p, first, second)
			if !told(wakes) || wakes == first && told(second) {
				t.Errorf("the first is told: %v, the second: %v", told(first), told(second))
			}
		})
	}
}

// The time that a request waits counts for nothing that is measured or logged.
func TestWaitIsNotMeasured(t *testing.T) {
	env := newPullEnv(t, Config{})
	type answered struct {
		route string
		took  time.Duration
	}
	seen := make(chan answered, 1)
	env.server.Observe(Observer{AccessLog: LogAll, Answered: func(route string, _ int, took time.Duration) { seen <- answered{route, took} }})
	env.wantPulled(env.answered(env.newConsumer(false).pulling(t.Context(), "whe_pull", "key_pull", `{"waitSeconds":1}`)))
	if a := <-seen; a.route != "/pull/:endpoint" || a.took > 900*time.Millisecond {
		t.Errorf("measured %+v", a)
	}
	if log := env.LogOutput.String(); !strings.Contains(log, `"key":"key_pull"`) || !strings.Contains(log, fmt.Sprintf(`"route":%q`, "/pull/:endpoint")) {
		t.Errorf("the log has %s", log)
	}
}
