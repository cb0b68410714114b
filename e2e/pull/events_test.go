package pull_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

const (
	secret     = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="
	receiveKey = "key_receive.example-receiver-secret"

	// seed is an org with an endpoint to pull from.
	seed = `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner"}],
		"apiKeys":[{"id":"key_write","secret":"example-writer-secret","scopes":["write"],"createdBy":"usr_ada"},
			{"id":"key_receive","secret":"example-receiver-secret","scopes":["receive"],"endpoints":["whe_1"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_1","kind":"pull","secret":"` + secret + `","events":["webhook.test"]}]}]}`
)

// flags are those of a server of these tests.
func flags(t *testing.T) []string {
	return []string{"--seed", kit.NewFile(t, "seed.json", seed), "--key-rate", "0", "--client-rate", "0", "--pull-rate", "0", "--max-conns-per-client", "0"}
}

const writers = 8

// events are those that writers were told to be accepted.
type events struct {
	*testing.T
	servers atomic.Pointer[[]*program.Process] // that run
	of      [writers][]string                  // the ids, by writer, in order
	count   atomic.Int64
	half    chan struct{} // closed when more than half are accepted, or no more will be
	end     sync.WaitGroup
}

func newEvents(t *testing.T, servers ...*program.Process) *events {
	e := &events{T: t, half: make(chan struct{})}
	e.servers.Store(&servers)
	return e
}

// write begins to post n events, shared out to writers. Each event is posted until it is
// accepted.
func (e *events) write(n int) {
	half := sync.OnceFunc(func() { close(e.half) })
	for w := range writers {
		e.end.Go(func() {
			for i := w; i < n && e.Context().Err() == nil; i += writers {
				id := e.post(w, fmt.Sprint("event ", i))
				if id == "" {
					return
				}
				e.of[w] = append(e.of[w], id)
				if e.count.Add(1) == int64(n/2)+1 {
					half()
				}
			}
		})
	}
	go func() {
		e.end.Wait()
		half()
	}()
}

func (e *events) post(writer int, key string) (id string) {
	began := time.Now()
	for try := writer; time.Since(began) < time.Minute; try++ {
		servers := *e.servers.Load()
		p := servers[try%len(servers)]
		sent, err := teamdata.New(teamdata.Config{BaseURL: p.URL, Key: program.WriteKey, HTTP: p.Client, Retries: -1}).
			TestWebhook(e.Context(), "whe_1", teamdata.IdempotencyKey(key))
		if err == nil {
			return sent.ID
		}
		<-time.After(20 * time.Millisecond)
	}
	e.Errorf("an event was not accepted for a minute")
	return ""
}

// all are the ids of all events.
func (e *events) all() (ids []string) { return slices.Concat(e.of[:]...) }

// acknowledged waits until all is: nothing is waiting, and nothing leased. What is left changes
// until then.
func (e *events) acknowledged(d *program.Data) {
	e.Helper()
	var deadline time.Time
	for before := ""; ; {
		left := ""
		for _, state := range []string{"pending", "retrying", "leased"} {
			left += d.MustRun("delivery", "list", "--org", "org_acme", "--endpoint", "whe_1", "--state", state, "--quiet")
		}
		if !strings.Contains(left, store.PrefixDelivery) {
			return
		}
		switch {
		case left != before:
			before, deadline = left, time.Now().Add(2*time.Minute)
		case time.Now().After(deadline):
			e.Fatalf("these are left:\n%s", left)
		}
	}
}

// compare compares the consumers' books with what was accepted, and with the history that the
// store has, once no server runs.
func (e *events) compare(d *program.Data, books ...[]string) {
	e.Helper()
	accepted, booked := map[string]bool{}, map[string]int{}
	for _, id := range e.all() {
		accepted[id] = true
	}
	for _, id := range slices.Concat(books...) {
		if booked[id]++; !accepted[id] {
			e.Errorf("%s was handled, and nobody was told that it is accepted", id)
		}
	}
	s := d.Open()
	defer s.Close()
	found, again, ended := 0, 0, 0
	kit.Must(e, s.View(e.Context(), func(tx store.Tx) error {
		endpoint, err := tx.Endpoint("org_acme", "whe_1")
		kit.Must(e, err)
		page, _, err := tx.DeliveryPage(endpoint.Number, store.ListAcknowledged, store.Cursor{}, len(accepted)+1)
		for _, delivery := range page {
			leases := 0
			for _, a := range delivery.History {
				if a.TimedOut {
					leases++
				}
			}
			found, ended = found+1, ended+leases
			times := booked[delivery.ID]
			if again += max(times-1, 0); times < 1 || times > 1+leases {
				e.Errorf("%s was handled %d times, and %d of its leases ended", delivery.ID, times, leases)
			}
		}
		return err
	}))
	if found != len(accepted) {
		e.Errorf("%d were accepted, and %d are acknowledged", len(accepted), found)
	}
	e.Logf("%d events were accepted, and all handled, %d of them again; %d leases ended", len(accepted), again, ended)
}
