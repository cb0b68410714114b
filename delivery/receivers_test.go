package delivery

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/store"
	"teamdata/wire/openapi"
)

// received is a request that a receiver got.
type received struct {
	header http.Header
	body   []byte
	at     time.Time
}

// receiver is a real HTTPS server with a handler of the test that keeps what it got.
type receiver struct {
	*httptest.Server
	got chan received
}

func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	r := &receiver{got: make(chan received, 100)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		holdsToDescription(t, q.Header, body)
		r.got <- received{q.Header.Clone(), body, time.Now()}
		if answer != nil {
			answer(w, q)
		}
	}))
	r.EnableHTTP2 = true
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	return pool
}

func (r *receiver) next(t testing.TB) received {
	t.Helper()
	select {
	case got := <-r.got:
		return got
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was received")
		panic("unreachable")
	}
}

func verify(t testing.TB, secret string, got received) {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(secret)
	kit.Must(t, err)
	if err := wh.Verify(got.body, got.header); err != nil {
		t.Fatalf("the reference library refuses the request: %v", err)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// held is a receiver that answers nothing before the test says what.
type held struct {
	*receiver
	answers chan int
}

// answer answers n of the requests that wait.
func (h *held) answer(n, code int) {
	for range n {
		h.answers <- code
	}
}

// await waits until n more requests have come.
func (h *held) await(t testing.TB, n int) {
	t.Helper()
	for range n {
		h.next(t)
	}
}

func newHeld(t testing.TB) *held {
	h := &held{answers: make(chan int)}
	h.receiver = newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		select {
		case code := <-h.answers:
			w.WriteHeader(code)
		case <-q.Context().Done():
		}
	})
	h.got = make(chan received, 1000)
	return h
}

// endpoint is the id of the endpoint to which a test event was sent.
func (r received) endpoint() string {
	var body struct{ Data struct{ EndpointID string } }
	json.Unmarshal(r.body, &body)
	return body.Data.EndpointID
}

// described is the description of the API, which has the webhooks too.
var described = sync.OnceValue(func() *contract.Contract {
	document, _ := openapi.Of("2026-10-06")
	c, err := contract.Read(document.JSON)
	if err != nil {
		panic(err)
	}
	return c
})

// holdsToDescription fails the test when a request is not as the API's description
// has it. Tests of the sender alone send an empty object, which is no event;
// benchmarks don't wait for it.
func holdsToDescription(t testing.TB, header http.Header, body []byte) {
	if _, measured := t.(*testing.B); measured || string(body) == "{}" {
		return
	}
	for _, fault := range described().WebhookFaults(header, body) {
		t.Errorf("not as in openapi.yaml: %s\n%s", fault, body)
	}
}

// switchedReceiver refuses deliveries until it is on, and keeps the ids of
// those it got.
type switchedReceiver struct {
	mu   sync.Mutex
	isOn bool
	ids  []string
}

func (r *switchedReceiver) send(_ context.Context, _ *store.Endpoint, c *store.Claim) (store.Attempt, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, c.Delivery.ID)
	a := store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: 204}
	if r.isOn {
		return a, "acknowledged"
	}
	a.Status, a.Reason = 0, "it is off"
	return a, "connect"
}

func (r *switchedReceiver) on() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isOn = true
}

func (r *switchedReceiver) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ids)
}

// noNames finds no name, without a network.
func noNames() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("there is no name server")
	}}
}

// onEachConn listens, and gives each connection to fn.
func onEachConn(t *testing.T, fn func(net.Conn)) (address string) {
	l := kit.Loopback(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go fn(c)
		}
	}()
	return l.Addr().String()
}
