package kill_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// A job that replays many deliveries is killed three times in between, and goes on: its
// count is exact, and each delivery is sent once more. Only those whose attempt was under
// way in the second before a kill may come again, for their outcome was lost.
func TestReplaysKilled(t *testing.T) { program.OnEngines(t, replaysKilled) }

func replaysKilled(t *testing.T, data *program.Data) {
	if !data.IsFile() {
		kit.NotEveryDay(t) // each kill waits for a lease to end
	}
	n := kit.Size(2000, 100_000)
	var mu sync.Mutex
	arrived := map[string][]time.Time{}
	url, ca := program.ServeTLS(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id := r.Header.Get("webhook-id")
		arrived[id] = append(arrived[id], time.Now())
	}))
	came := func(least int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(arrived) >= least
		}
	}
	flags := []string{"--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.1/32"}
	job := failedDeliveries(data, url, n)

	var kills, ready []time.Time // when each kill was over, and when the server after it ran
	start := time.Now()
	for i := range 3 {
		p := data.Serve(flags...)
		if i > 0 {
			ready = append(ready, time.Now())
		}
		for least := n * i / 5; least <= n*(i+1)/5; least += 400 {
			p.Await("some deliveries", came(least))
		}
		p.Kill()
		kills = append(kills, time.Now())
	}
	j := replay(data, job)
	t.Logf("when it was killed last, %d of %d were queued again", j.Done, n)
	p := data.Serve(flags...)
	ready = append(ready, time.Now())
	for least := n * 3 / 5; least <= n; least += 400 {
		p.Await("all deliveries", came(least))
	}
	p.Stop()
	data.IsSound()
	onEngine(data, func(s store.Store) error { return store.RunReplays(t.Context(), s) }) // the step that finds no more
	if j = replay(data, job); j.State != store.ReplayDone || j.Done != n {
		t.Errorf("the job is %s with %d of %d", j.State, j.Done, n)
	}
	again := make([]int, len(kills)) // that came before a kill and after it, since their outcome was lost
	for id, at := range arrived {
		for i := range at[1:] {
			k := 0 // what was on its way at the kill may be read after it
			for k < len(kills) && !(at[i].Before(ready[k]) && at[i+1].After(kills[k])) {
				k++
			}
			if k == len(kills) {
				t.Errorf("%s came %d times, and no kill was in between: %v", id, len(at), at)
				continue
			}
			again[k]++
		}
	}
	for k, n := range again {
		if n > inFlight {
			t.Errorf("%d came again after kill %d, where %d may have been under way", n, k+1, inFlight)
		}
	}
	if len(arrived) != n {
		t.Errorf("%d of %d came", len(arrived), n)
	}
	t.Logf("%d came in %s with 3 kills; again after each kill, since they were under way: %v", len(arrived), time.Since(start).Round(time.Millisecond), again)
}

// inFlight is how many deliveries to an endpoint are under way at most, by default.
const inFlight = 32

// onEngine opens the data for a while.
func onEngine(d *program.Data, fn func(s store.Store) error) {
	d.Helper()
	s := d.Open()
	kit.Must(d, errors.Join(fn(s), s.Close()))
}

// failedDeliveries makes an endpoint with deliveries that have failed, and a job that
// replays them, and returns its id.
func failedDeliveries(p *program.Data, url string, n int) (job string) {
	p.Helper()
	onEngine(p, func(s store.Store) error {
		update := func(fn func(store.Tx) error) error { return s.Update(context.Background(), store.All, fn) }
		err := update(func(tx store.Tx) error {
			_, errOrg := store.CreateOrg(tx, "", store.Org{ID: "org_acme", Name: "Acme"})
			_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: "org_acme", URL: url, Events: []string{"*"}, Secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"})
			return errors.Join(errOrg, errEndpoint)
		})
		for i := 0; i < n && err == nil; i += 1000 {
			err = update(func(tx store.Tx) (err error) {
				e, err := tx.Endpoint("org_acme", "whe_1")
				for k := i; k < min(i+1000, n) && err == nil; k++ {
					at := tx.Now().Add(-time.Hour)
					d := store.Delivery{ID: fmt.Sprintf("whd_%06d", k), EventID: fmt.Sprintf("evt_%06d", k), OrgID: e.OrgID, EndpointID: e.ID, EndpointNumber: e.Number,
						State: store.StateFailed, Attempts: 1, CreatedAt: at, FirstAttemptAt: at, FinishedAt: at, EventType: "webhook.test",
						History: []store.Attempt{{StartedAt: at, EndedAt: at, Status: 500, Reason: "no"}}}
					err = tx.AddEvent(store.Event{ID: d.EventID, OrgID: e.OrgID, Type: d.EventType, CreatedAt: at, Body: []byte("{}"), Deliveries: []string{d.ID}}, []store.Delivery{d})
				}
				return err
			})
		}
		if err != nil {
			return err
		}
		return update(func(tx store.Tx) error {
			j, err := store.StartReplay(tx, "", store.ReplayJob{OrgID: "org_acme", Total: n})
			job = j.ID
			return err
		})
	})
	return job
}

func replay(p *program.Data, id string) (j store.ReplayJob) {
	p.Helper()
	onEngine(p, func(s store.Store) error {
		return s.View(context.Background(), func(tx store.Tx) (err error) {
			j, err = store.FindReplay(tx, "org_acme", id)
			return err
		})
	})
	return j
}
