package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// newPullBench is a consumer of a server that syncs, and has no limits.
func newPullBench(b *testing.B) *consumer {
	env, config := newBenchEnv(b)
	env.server = New(env.Store, Config{})
	env.Store.OnDue(env.server.Due)
	env.addPull()
	l := kit.Loopback(b)
	env.addr = l.Addr().String()
	go env.server.Serve(l, config)
	b.Cleanup(func() { env.server.http.Close() })
	return env.newConsumer(false)
}

// fill makes deliveries to be pulled.
func (env *testEnv) fill(n int) {
	for made := 0; made < n; made += 1000 {
		env.send("whe_pull", min(1000, n-made))
	}
}

// BenchmarkPullDrain has one consumer pull what waits in rounds of 100, each with the
// acknowledgments of the one before, and beside it the store by itself.
func BenchmarkPullDrain(b *testing.B) {
	const events = 20_000
	b.Run("server", func(b *testing.B) {
		c := newPullBench(b)
		for b.Loop() {
			b.StopTimer()
			c.fill(events)
			b.StartTimer()
			for pulled, ack := 0, []string(nil); ; {
				body := `{"limit":100}`
				if ack != nil {
					body = `{"limit":100,"ack":["` + strings.Join(ack, `","`) + `"]}`
				}
				a := c.answered(c.pulling(b.Context(), "whe_pull", "key_pull", body))
				if ack = a.ids(); len(ack) == 0 {
					if pulled != events {
						b.Fatalf("%d of %d were pulled: %+v", pulled, events, a)
					}
					break
				}
				pulled += len(ack)
			}
		}
		b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
	})
	b.Run("store", func(b *testing.B) {
		c := newPullBench(b)
		key := &store.APIKey{ID: "key_pull", OrgID: "org_acme"}
		for b.Loop() {
			b.StopTimer()
			c.fill(events)
			b.StartTimer()
			for ack := []string(nil); ; {
				var claims store.Claims
				scope := store.InOrg("org_acme")
				scope.Deliveries = ack
				kit.Must(b, c.Store.Update(b.Context(), scope, func(tx store.Tx) (err error) {
					claims, err = store.Pull(tx, "whe_pull", store.PullRequest{Key: key, Ack: ack, Limit: 100, Lease: time.Minute})
					return err
				}))
				if len(claims.Claims) == 0 {
					break
				}
				ack = nil
				for i := range claims.Claims {
					ack = append(ack, claims.Claims[i].Delivery.ID)
				}
			}
		}
		b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
	})
}

// BenchmarkPullWait is the time from a commit to the answer of the request that waits for it,
// beside 500 events a second, and beside it that of a sync of the disk. The consumer
// acknowledges with each pull.
func BenchmarkPullWait(b *testing.B) {
	c := newPullBench(b)
	file, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	kit.Must(b, err)
	defer file.Close()
	committed := make(chan map[string]time.Time, 1)
	committed <- map[string]time.Time{}
	done := make(chan struct{})
	var syncs []time.Duration
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for n := range b.N {
			<-tick.C
			if n%10 == 0 {
				syncs = append(syncs, timed(func() {
					file.WriteAt(make([]byte, 4096), 0)
					file.Sync()
				}))
			}
			go func() {
				ids := c.send("whe_pull", 1)
				at := time.Now()
				times := <-committed
				times[ids[0]] = at
				committed <- times
			}()
		}
	}()
	answered, ack := map[string]time.Time{}, []string(nil)
	b.ResetTimer()
	for len(answered) < b.N {
		body := `{"limit":100,"waitSeconds":5}`
		if ack != nil {
			body = `{"limit":100,"waitSeconds":5,"ack":["` + strings.Join(ack, `","`) + `"]}`
		}
		a := c.answered(c.pulling(b.Context(), "whe_pull", "key_pull", body))
		now := time.Now()
		if ack = a.ids(); len(ack) == 0 {
			b.Fatalf("%d of %d came", len(answered), b.N)
		}
		for _, id := range ack {
			answered[id] = now
		}
	}
	b.StopTimer()
	<-done
	var took []time.Duration
	for id, at := range <-committed {
		took = append(took, max(0, answered[id].Sub(at)))
	}
	slices.Sort(took)
	slices.Sort(syncs)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "wait-p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "wait-p99-µs")
	b.ReportMetric(float64(syncs[len(syncs)*99/100].Microseconds()), "sync-p99-µs")
	b.ReportMetric(float64(syncs[len(syncs)/2].Microseconds()), "sync-p50-µs")
}
