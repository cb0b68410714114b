// Package load is what happens to a program while something is done to it: clients post, and
// receivers, some of which fail, count what comes of that.
package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/delivery"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// Receiver is a webhook receiver that fails a fifth of the requests, by
// their ids and by how often they came, so that a seed fails the same.
type Receiver struct {
	url, caFile string
	secret      string
	webhook     *standardwebhooks.Webhook
	seedOf      uint64
	Kills       atomic.Int64 // of the sender

	mu           sync.Mutex
	got          map[string]int   // attempts by webhook-id
	acknowledged map[string]int64 // and how many kills were before the connection of the last that was acknowledged
	again        map[int64]int    // how many were acknowledged again, by the kill before
	wrong        []string         // what did not verify, or was sent again for no reason
	endpoints    int
}

// killsBefore is the key of how many kills were before a connection.
type killsBefore struct{}

func NewReceiver(t *testing.T, endpoints int, seed uint64) *Receiver {
	t.Helper()
	r := &Receiver{
		secret: store.NewEndpointSecret(), seedOf: seed, endpoints: endpoints,
		got: map[string]int{}, acknowledged: map[string]int64{}, again: map[int64]int{},
	}
	var err error
	if r.webhook, err = standardwebhooks.NewWebhook(r.secret); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r)
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, killsBefore{}, r.Kills.Load())
	}
	r.url, r.caFile = program.StartTLS(t, server)
	return r
}

func (r *Receiver) Flags() []string {
	return []string{"--webhook-ca", r.caFile, "--allow-endpoint-cidr", "127.0.0.1/32"}
}

// Seed is a fixture whose endpoints are all at the receiver.
func (r *Receiver) Seed(t *testing.T) string {
	t.Helper()
	hooks := make([]map[string]any, r.endpoints)
	for i := range hooks {
		hooks[i] = map[string]any{"id": fmt.Sprint("whe_", i), "url": r.url, "secret": r.secret, "events": []string{"webhook.test"}}
	}
	content, err := json.Marshal(map[string]any{"orgs": []any{map[string]any{
		"id": "org_acme", "name": "Acme", "webhooks": hooks,
		"members": []any{map[string]string{"userId": "usr_ada", "role": "owner"}},
		"apiKeys": []any{
			map[string]any{"id": "key_write", "secret": "example-writer-secret", "scopes": []string{"write"}, "createdBy": "usr_ada"},
			map[string]any{"id": "key_read", "secret": "example-reader-secret", "scopes": []string{"read"}, "createdBy": "usr_ada"},
		},
	}}})
	kit.Must(t, err)
	return kit.NewFile(t, "seed.json", string(content))
}

func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the sender was killed
	}
	id, kills := q.Header.Get("webhook-id"), q.Context().Value(killsBefore{}).(int64)
	err = r.webhook.Verify(body, q.Header)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.wrong = append(r.wrong, id+": "+err.Error())
	}
	r.got[id]++
	random := rand.New(rand.NewPCG(r.seedOf, uint64(len(r.got))<<8+uint64(r.got[id])))
	if random.IntN(5) == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	// Where several nodes send, what was in flight at one that was killed may come again
	// by a connection that another one had before.
	now := r.Kills.Load()
	switch before, is := r.acknowledged[id]; {
	case is && before == now:
		r.wrong = append(r.wrong, id+" was acknowledged, and sent again though nothing was killed")
	case is:
		r.again[now]++
	}
	r.acknowledged[id] = kills
	w.WriteHeader(http.StatusNoContent)
}

// Missing is how many of the accepted deliveries have not been acknowledged.
func (r *Receiver) Missing(accepted *Accepted) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range accepted.IDs {
		if _, is := r.acknowledged[id]; !is {
			n++
		}
	}
	return n
}

func (r *Receiver) Report(t *testing.T, accepted *Accepted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	duplicates, most := 0, 0
	for _, n := range r.again {
		duplicates, most = duplicates+n, max(most, n)
	}
	kills := int(r.Kills.Load())
	t.Logf("%d kills: %d deliveries accepted, %d arrived and were acknowledged, %d of those again, with the same webhook-id, at most %d after one kill",
		kills, len(accepted.IDs), len(r.acknowledged), duplicates, most)
	if len(r.wrong) > 0 {
		t.Errorf("%d requests were wrong, the first: %s", len(r.wrong), r.wrong[0])
	}
	if most > r.endpoints*delivery.DefaultPerEndpoint {
		t.Errorf("after a kill more was sent again than can have been in flight")
	}
	if len(accepted.IDs) < kills {
		t.Errorf("only %d deliveries were accepted", len(accepted.IDs))
	}
}

// Requests are how many came, by webhook-id.
func (r *Receiver) Requests() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.got)
}

// Endpoints are how many a receiver has mostly.
const Endpoints = 5

// ServerFlags are those of a server with such a receiver and its seed.
func ServerFlags(r *Receiver, seed string) []string {
	return append(r.Flags(), "--key-rate", "0", "--client-rate", "0", "--seed", seed,
		"--retry-schedule", "50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms")
}
