package delivery

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/store"
	"teamdata/store/boltstore"
)

const testOrg = "org_test"

// bench is a store with one org, for tests of the dispatcher.
type bench struct {
	testing.TB
	store *boltstore.Store
	path  string
}

func newBench(t testing.TB) *bench {
	b := &bench{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	b.open()
	b.update(func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: testOrg, Name: "Test"})
		return err
	})
	t.Cleanup(func() { b.store.Close() })
	return b
}

func (b *bench) open() {
	b.Helper()
	s, err := boltstore.Open(b.path, boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.store = s
}

func (b *bench) update(fn func(store.Tx) error) {
	b.Helper()
	if err := b.store.Update(context.Background(), fn); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) endpoint(url string, events ...string) (e store.Endpoint) {
	b.Helper()
	if len(events) == 0 {
		events = []string{store.EventWebhookTest}
	}
	b.update(func(tx store.Tx) (err error) {
		e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: testOrg, URL: url, Events: events})
		return err
	})
	return e
}

func (b *bench) sendTest(endpointID string) (d store.Delivery) {
	b.Helper()
	b.update(func(tx store.Tx) (err error) {
		d, err = store.SendTest(tx, testOrg, endpointID)
		return err
	})
	return d
}

func (b *bench) delivery(id string) (d store.Delivery) {
	b.Helper()
	err := b.store.View(context.Background(), func(tx store.Tx) (err error) {
		d, err = tx.Delivery(id)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// run starts a dispatcher; stop ends it at once.
func (b *bench) run(c Config) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d := New(b.store, c)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(stop)
	return stop
}

// awaitState waits until a delivery is in a state, woken by each commit's
// outcome through the receiver or the given nudge.
func (b *bench) awaitState(id string, want store.DeliveryState) store.Delivery {
	b.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if d := b.delivery(id); d.State == want {
			return d
		}
		select {
		case <-deadline:
			b.Fatalf("delivery %s is %s, not %s", id, b.delivery(id).State, want)
		case <-tick.C:
		}
	}
}

// received is a request that a receiver got.
type received struct {
	header http.Header
	body   []byte
	at     time.Time
}

// receiver is a real HTTPS server that answers as told and keeps what it got.
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
	if err != nil {
		t.Fatal(err)
	}
	if err := wh.Verify(got.body, got.header); err != nil {
		t.Fatalf("the reference library refuses the request: %v", err)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
