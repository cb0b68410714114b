package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/delivery"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// While 8 clients post to 5 endpoints that fail a fifth of the time, the
// program is killed at random moments and started again: every delivery that
// was accepted arrives and verifies, again only after a kill, no other is there, and
// the data stays sound.
func TestCrashLoop(t *testing.T) { onEngines(t, crashLoop) }

func crashLoop(t *testing.T, data *place) {
	const clients, endpoints = 8, 5
	kills := kit.Size(4, 100)
	random := kit.Random(t)
	r := newFlakyReceiver(t, endpoints, random.Uint64())
	flags := append(r.flags(), "--key-rate", "0", "--client-rate", "0",
		"--retry-schedule", "5ms,5ms,5ms,5ms,5ms,10ms,10ms,10ms,20ms,20ms,20ms,20ms,20ms,20ms,20ms")
	var server atomic.Pointer[program.Process]
	server.Store(data.serveNew(append(flags, "--seed", r.seed(t))...))

	posting, stopPosting := context.WithCancel(context.Background())
	var accepted acceptedIDs
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() { accepted.post(posting, t, &server, c, endpoints, true) })
	}
	for i := range kills {
		if i%2 == 0 { // some while after the start, maybe before the first commit
			<-time.After(time.Duration(1+random.IntN(80)) * time.Millisecond)
		} else {
			more := accepted.count() + 2*clients + random.IntN(100)
			server.Load().Await("the next deliveries", func() bool { return accepted.count() >= more })
		}
		server.Load().Kill()
		r.kills.Add(1)
		data.isSound()
		server.Store(data.serve(flags...))
	}
	stopPosting()
	group.Wait()

	last := server.Load()
	last.Await("the last delivery", func() bool { return r.missing(&accepted) == 0 })
	if err := last.Stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, last.Out)
	}
	data.isSound()
	r.report(t, &accepted)
	if n := data.deliveries(); n != accepted.count() {
		t.Errorf("%d deliveries were accepted, and %d are there", accepted.count(), n)
	}
	if data.isFile() {
		if t.Logf("%d starts had to search for free pages", data.searches); data.searches == 0 {
			t.Error("no start had to search for free pages")
		}
	}
}

// serveAfterDeletions serves a new data file in which there are many free pages, in runs
// of some.
func serveAfterDeletions(t *testing.T, data string, flags ...string) *program.Process {
	t.Helper()
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	for _, size := range []int{3 * os.Getpagesize(), 0} {
		err = errors.Join(err, s.Update(context.Background(), store.All, func(tx store.Tx) (err error) {
			for i := range 1000 {
				err = errors.Join(err, tx.PutCertificate(fmt.Sprint("ballast ", i), make([]byte, size)))
			}
			return err
		}))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return program.Serve(t, data, flags...)
}

// acceptedIDs are the deliveries that a client was told of.
type acceptedIDs struct {
	mu      sync.Mutex
	ids     map[string]bool
	refused int           // how often the answer was 503
	longest time.Duration // that an answer took
}

// add adds what was answered, "" for a 503.
func (a *acceptedIDs) add(t *testing.T, id string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.longest = max(a.longest, took)
	if id == "" {
		a.refused++
		return
	}
	if a.ids == nil {
		a.ids = make(map[string]bool)
	}
	if a.ids[id] {
		t.Errorf("the delivery %s was the answer to two keys", id)
	}
	a.ids[id] = true
}

func (a *acceptedIDs) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.ids)
}

func (a *acceptedIDs) refusals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// post makes POSTs, each with a key of its own and again until it is answered, or
// without a key and once.
func (a *acceptedIDs) post(ctx context.Context, t *testing.T, server *atomic.Pointer[program.Process], client, endpoints int, again bool) {
	for i := 0; ctx.Err() == nil; i++ {
		path := fmt.Sprintf("/webhooks/whe_%d/test", (client+i)%endpoints)
		var headers []string
		if again {
			headers = []string{"Idempotency-Key", fmt.Sprintf("%d-%d", client, i)}
		}
		for done := false; !done && t.Context().Err() == nil; {
			began := time.Now()
			got, err := server.Load().Do("POST", path, program.WriteKey, headers...)
			var body struct{ ID string }
			switch {
			case err != nil:
				if !again {
					t.Errorf("a request without a key was not answered: %v", err)
					return
				}
			case got.Status == http.StatusOK && json.Unmarshal([]byte(got.Body), &body) == nil:
				a.add(t, body.ID, time.Since(began))
				done = true
			case got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != "":
				a.add(t, "", time.Since(began))
				done = !again
			default:
				t.Errorf("answered %d %v %s", got.Status, got.Header, got.Body)
				return
			}
			switch {
			case !done || body.ID == "":
				<-time.After(20 * time.Millisecond)
			case !kit.AtSize(): // leaves other tests something of the machine
				<-time.After(5 * time.Millisecond)
			}
		}
	}
}

// flakyReceiver is a webhook receiver that fails a fifth of the requests, by
// their ids and by how often they came, so that a seed fails the same.
type flakyReceiver struct {
	url, caFile string
	secret      string
	webhook     *standardwebhooks.Webhook
	seedOf      uint64
	kills       atomic.Int64 // of the sender

	mu           sync.Mutex
	got          map[string]int   // attempts by webhook-id
	acknowledged map[string]int64 // and how many kills were before the connection of the last that was acknowledged
	again        map[int64]int    // how many were acknowledged again, by the kill before
	wrong        []string         // what did not verify, or was sent again for no reason
	endpoints    int
}

// killsBefore is the key of how many kills were before a connection.
type killsBefore struct{}

func newFlakyReceiver(t *testing.T, endpoints int, seed uint64) *flakyReceiver {
	t.Helper()
	r := &flakyReceiver{
		secret: store.NewEndpointSecret(), seedOf: seed, endpoints: endpoints,
		got: map[string]int{}, acknowledged: map[string]int64{}, again: map[int64]int{},
	}
	var err error
	if r.webhook, err = standardwebhooks.NewWebhook(r.secret); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r)
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, killsBefore{}, r.kills.Load())
	}
	r.url, r.caFile = startTLS(t, server)
	return r
}

func (r *flakyReceiver) flags() []string {
	return []string{"--webhook-ca", r.caFile, "--allow-endpoint-cidr", "127.0.0.1/32"}
}

// seed is a fixture whose endpoints are all at the receiver.
func (r *flakyReceiver) seed(t *testing.T) string {
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
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "seed.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (r *flakyReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
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
	now := r.kills.Load()
	switch before, is := r.acknowledged[id]; {
	case is && before == now:
		r.wrong = append(r.wrong, id+" was acknowledged, and sent again though nothing was killed")
	case is:
		r.again[now]++
	}
	r.acknowledged[id] = kills
	w.WriteHeader(http.StatusNoContent)
}

// missing is how many of the accepted deliveries have not been acknowledged.
func (r *flakyReceiver) missing(accepted *acceptedIDs) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range accepted.ids {
		if _, is := r.acknowledged[id]; !is {
			n++
		}
	}
	return n
}

func (r *flakyReceiver) report(t *testing.T, accepted *acceptedIDs) {
	r.mu.Lock()
	defer r.mu.Unlock()
	duplicates, most := 0, 0
	for _, n := range r.again {
		duplicates, most = duplicates+n, max(most, n)
	}
	kills := int(r.kills.Load())
	t.Logf("%d kills: %d deliveries accepted, %d arrived and were acknowledged, %d of those again, with the same webhook-id, at most %d after one kill",
		kills, len(accepted.ids), len(r.acknowledged), duplicates, most)
	if len(r.wrong) > 0 {
		t.Errorf("%d requests were wrong, the first: %s", len(r.wrong), r.wrong[0])
	}
	if most > r.endpoints*delivery.DefaultPerEndpoint {
		t.Errorf("after a kill more was sent again than can have been in flight")
	}
	if len(accepted.ids) < kills {
		t.Errorf("only %d deliveries were accepted", len(accepted.ids))
	}
}

// requests are how many came, by webhook-id.
func (r *flakyReceiver) requests() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.got)
}
