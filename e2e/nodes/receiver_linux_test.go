package nodes_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// countingReceiver numbers what it gets, and answers with the number: a node that records
// the attempt keeps it, so that it can be told which attempts were recorded. It fails a
// tenth.
type countingReceiver struct {
	url, caFile, secret string
	webhook             *standardwebhooks.Webhook
	seedOf              uint64
	arrivedAt           [clusterEndpoints]atomic.Int64 // deliveries, by endpoint

	mu     sync.Mutex
	number int
	posts  map[string][]received // by webhook-id
	wrong  []string
}

// received is a request that came.
type received struct {
	number int
	at     time.Time
	status int
	body   [sha256.Size]byte
}

func newCountingReceiver(t *testing.T, seed uint64) *countingReceiver {
	t.Helper()
	r := &countingReceiver{secret: store.NewEndpointSecret(), seedOf: seed, posts: map[string][]received{}}
	var err error
	if r.webhook, err = standardwebhooks.NewWebhook(r.secret); err != nil {
		t.Fatal(err)
	}
	r.url, r.caFile = program.StartTLS(t, httptest.NewUnstartedServer(r))
	return r
}

func (r *countingReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the sender was killed
	}
	id := q.Header.Get("webhook-id")
	err = r.webhook.Verify(body, q.Header)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	got := received{r.number, time.Now(), http.StatusOK, sha256.Sum256(body)}
	if rand.New(rand.NewPCG(r.seedOf, uint64(r.number))).IntN(10) == 0 {
		got.status = http.StatusInternalServerError
	}
	if err != nil {
		r.wrong = append(r.wrong, id+": "+err.Error())
	}
	if before := r.posts[id]; len(before) == 0 {
		endpoint, _ := strconv.Atoi(path.Base(q.URL.Path))
		r.arrivedAt[endpoint].Add(1)
	} else if before[0].body != got.body {
		r.wrong = append(r.wrong, id+" came with two bodies")
	}
	r.posts[id] = append(r.posts[id], got)
	w.WriteHeader(got.status)
	io.WriteString(w, strconv.Itoa(got.number))
}

// of are the requests with an id.
func (r *countingReceiver) of(id string) []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.posts[id]
}

// seed is a fixture whose endpoints are all at the receiver.
func (r *countingReceiver) seed(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	orgs := make([]object, clusterOrgs)
	for i := range orgs {
		orgs[i] = object{
			"id": fmt.Sprint("org_", i), "name": "Acme", "members": []any{object{"userId": "usr_ada", "role": "owner"}},
			"apiKeys": []any{object{"id": fmt.Sprint("key_", i), "secret": "example-writer-secret", "scopes": []string{"write"}, "createdBy": "usr_ada"}},
		}
		var hooks []object
		for e := i; e < clusterEndpoints; e += clusterOrgs {
			hooks = append(hooks, object{"id": fmt.Sprint("whe_", e), "url": fmt.Sprint(r.url, "/", e), "secret": r.secret, "events": []string{"webhook.test"}})
		}
		orgs[i]["webhooks"] = hooks
	}
	content, err := json.Marshal(object{"orgs": orgs})
	kit.Must(t, err)
	return string(content)
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	kit.Must(t, err)
	return n
}
