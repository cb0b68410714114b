package kill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// An endpoint with a rate of 10/s has a backlog, made by 8 clients, and its server is killed
// and started again, or is one of three on a database, of which the one that sends to it is
// killed: never do more than 10 attempts begin in a sliding second, as they are recorded, and
// the backlog drains by 9.5 a second, but for the time until somebody sends again. Another
// endpoint gets its events as fast as before there was a backlog.
func TestRateKept(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		rateKept(t, &program.Data{T: t, At: filepath.Join(t.TempDir(), "teamdata.db")}, 1)
	})
	t.Run("three nodes", func(t *testing.T) {
		t.Parallel()
		rateKept(t, program.InDatabase(t, postgres.New(t)), 3)
	})
}

const perSecond = 10

// pacedTest is such servers, and the receiver of both endpoints.
type pacedTest struct {
	*testing.T
	data    *program.Data
	servers []*program.Process

	mu      sync.Mutex
	arrived map[string]time.Time // by webhook-id, for the first time
	paced   []time.Time          // all that came to the endpoint with the rate, in order
}

func (p *pacedTest) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.URL.Path == "/paced" {
		p.paced = append(p.paced, time.Now())
	}
	if id := q.Header.Get("webhook-id"); p.arrived[id].IsZero() {
		p.arrived[id] = time.Now()
	}
	w.WriteHeader(http.StatusNoContent)
}

func rateKept(t *testing.T, data *program.Data, nodes int) {
	backlog := kit.Size(100, 5000)
	p := &pacedTest{T: t, data: data, arrived: map[string]time.Time{}}
	url, ca := program.ServeTLS(t, p)
	flags := []string{"--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.1/32", "--key-rate", "0", "--client-rate", "0"}
	p.servers = append(p.servers, data.Serve(append([]string{"--seed", p.seed(url)}, p.named(flags, 0)...)...))
	for i := 1; i < nodes; i++ {
		p.servers = append(p.servers, program.InDatabase(t, data.At).Serve(p.named(flags, i)...))
	}
	samples := min(200, backlog/4)
	alone := p.latencies(samples)

	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for i := client; i < backlog; i += 8 {
				p.post("whe_paced", i)
			}
		})
	}
	group.Wait()
	beside := p.latencies(samples)
	t.Logf("another endpoint got its events after %s at the 99th percentile, and alone after %s", p99(beside), p99(alone))
	if p99(beside) > 2*p99(alone)+50*time.Millisecond {
		t.Errorf("another endpoint waits for the one with a rate: %s at the 99th percentile, and alone %s", p99(beside), p99(alone))
	}

	p.await(backlog * 2 / 5)
	p.killSender(flags)
	killed := p.count()
	p.await(killed + 2)
	p.await(backlog)
	for _, s := range p.servers {
		s.StopWell()
	}
	data.IsSound()
	p.check(backlog, killed)
}

// named are the flags of a server, which on a database has a name.
func (p *pacedTest) named(flags []string, i int) []string {
	if p.data.IsFile() {
		return flags
	}
	return append([]string{"--node", fmt.Sprint("node-", i)}, flags...)
}

// seed is a fixture of an endpoint with a rate, and another.
func (p *pacedTest) seed(url string) string {
	hook := func(id, path, rate string) map[string]any {
		h := map[string]any{"id": id, "url": url[:len(url)-len("/hook")] + path, "events": []string{"webhook.test"}}
		if rate != "" {
			h["rate"] = rate
		}
		return h
	}
	content, err := json.Marshal(map[string]any{"orgs": []any{map[string]any{
		"id": "org_acme", "name": "Acme", "members": []any{map[string]string{"userId": "usr_ada", "role": "owner"}},
		"webhooks": []any{hook("whe_paced", "/paced", fmt.Sprint(perSecond, "/s")), hook("whe_other", "/other", "")},
		"apiKeys":  []any{map[string]any{"id": "key_write", "secret": "example-writer-secret", "scopes": []string{"write"}, "createdBy": "usr_ada"}},
	}}})
	kit.Must(p, err)
	return kit.NewFile(p, "seed.json", string(content))
}

// post sends a test, and returns the id of its delivery.
func (p *pacedTest) post(endpoint string, i int) string {
	a := p.servers[i%len(p.servers)].Must("POST", "/webhooks/"+endpoint+"/test", program.WriteKey)
	var body struct{ ID string }
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil || a.Status != http.StatusOK {
		p.Errorf("answered %d %s", a.Status, a.Body)
	}
	return body.ID
}

// latencies are how long after its request each of some events came to the other endpoint.
func (p *pacedTest) latencies(n int) (all []time.Duration) {
	p.Helper()
	for i := range n {
		began := time.Now()
		id := p.post("whe_other", i)
		var at time.Time
		if !kit.Until(20*time.Second, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			at = p.arrived[id]
			return !at.IsZero()
		}) {
			p.Fatal("an event to the other endpoint did not arrive")
		}
		all = append(all, at.Sub(began))
	}
	slices.Sort(all)
	return all
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

func (p *pacedTest) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.paced)
}

// await waits until n have come, in steps for which there is time enough.
func (p *pacedTest) await(n int) {
	p.Helper()
	for next := p.count(); next < n; {
		next = min(next+50, n)
		p.servers[len(p.servers)-1].Await("the next attempts", func() bool { return p.count() >= next })
	}
}

// killSender kills the server that sends to the endpoint with the rate. If it is the only
// one, it is started again.
func (p *pacedTest) killSender(flags []string) {
	p.Helper()
	i := 0
	if len(p.servers) > 1 {
		name := postgres.Exec(p, p.data.At, `SELECT n.name FROM endpoints e
			JOIN leases l ON l.name = 'shard ' || lpad((get_byte(e.endpoint_numbers, 7) % 64)::text, 2, '0') JOIN nodes n ON n.id = l.node
			WHERE convert_from(substring(e.key FROM position('\x00'::bytea IN e.key) + 1), 'UTF8') = 'whe_paced'`)[0][0]
		i = slices.IndexFunc(p.servers, func(s *program.Process) bool { return slices.Contains(s.Cmd.Args, name) })
	}
	p.servers[i].Kill()
	if len(p.servers) == 1 {
		p.servers[0] = p.data.Serve(flags...)
		return
	}
	p.servers = slices.Delete(p.servers, i, i+1)
}

// check looks at when the recorded attempts began, and when all arrived. The attempts that
// were in flight at the kill are recorded once they were made again.
func (p *pacedTest) check(backlog, killed int) {
	var began []time.Time
	onEngine(p.data, func(s store.Store) error {
		return s.View(context.Background(), func(tx store.Tx) error {
			e, err := tx.Endpoint("org_acme", "whe_paced")
			if err != nil {
				return err
			}
			for after, more := (store.Cursor{}), true; more && err == nil; {
				var page []store.Delivery
				page, more, err = tx.DeliveryPage(e.Number, store.ListAcknowledged, after, 1000)
				for _, d := range page {
					for _, a := range d.History {
						began = append(began, a.StartedAt)
					}
					after = store.CursorOf(d.FinishedAt, d.ID)
				}
			}
			return err
		})
	})
	slices.SortFunc(began, time.Time.Compare)
	if len(began) != backlog {
		p.Errorf("%d attempts are recorded of %d deliveries", len(began), backlog)
	}
	most, closest := within(began, time.Second)
	if most > perSecond {
		p.Errorf("%d attempts began within %s", perSecond+1, closest)
	}
	_, arrival := within(p.paced, time.Second)
	longest := time.Duration(0) // without an attempt, after the kill
	for i := 1; i < len(p.paced); i++ {
		longest = max(longest, p.paced[i].Sub(p.paced[i-1]))
	}
	sending := p.paced[len(p.paced)-1].Sub(p.paced[0]) - longest
	rate := float64(len(p.paced)-1) / sending.Seconds()
	p.Logf("%d attempts by 10/s, killed after %d: any %d took %s to begin, and %s to arrive; nobody sent for %s; without that, %.2f a second",
		len(p.paced), killed, perSecond+1, closest, arrival.Round(time.Millisecond), longest.Round(time.Millisecond), rate)
	if backlog >= 300 && rate < 9.5 {
		p.Errorf("only %.2f attempts a second", rate)
	}
}

// within is how many of some times are in a sliding period at most, and the shortest time in
// which one more than the rate allows are.
func within(times []time.Time, per time.Duration) (most int, closest time.Duration) {
	closest = time.Hour
	first := 0
	for i, at := range times {
		for at.Sub(times[first]) >= per {
			first++
		}
		most = max(most, i-first+1)
		if i >= perSecond {
			closest = min(closest, at.Sub(times[i-perSecond]))
		}
	}
	return most, closest
}
