package delivery_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/delivery"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// TestHandedOverInFlight: while endpoints are handed over, because their node stops or
// another one joins it, an attempt in flight ends, and is made once.
func TestHandedOverInFlight(t *testing.T) {
	for name, test := range map[string]struct {
		before int           // nodes
		takes  time.Duration // the receiver
		change func(h *handOver)
	}{
		"a node stops": {2, 2 * time.Second, func(h *handOver) { h.nodes[0].stop() }},
		"a node joins": {1, 6 * time.Second, func(h *handOver) { h.start() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := postgres.New(t)
			synctest.Test(t, func(t *testing.T) {
				h := &handOver{T: t, database: database, takes: test.takes, requests: map[string]int{}}
				for range test.before {
					h.start()
				}
				<-time.After(3 * time.Second) // they have shared the endpoints out
				sent := h.send(16)
				<-time.After(time.Second)
				test.change(h)
				<-time.After(test.takes + 3*time.Second)
				h.check(sent)
				for _, n := range h.nodes {
					n.stop()
				}
			})
		})
	}
}

// handOver is some nodes on one database, and a receiver that takes its time.
type handOver struct {
	*testing.T
	database string
	takes    time.Duration
	nodes    []*handOverNode

	mu       sync.Mutex
	requests map[string]int // by webhook-id
}

type handOverNode struct {
	*pgstore.Store
	stop func() // gracefully
	cut  func() // ends the dispatcher at once
}

func (h *handOver) start() *handOverNode {
	h.Helper()
	target, err := pgstore.ParseTarget(h.database)
	kit.Must(h, err)
	s, err := pgstore.Open(h.Context(), target, pgstore.Options{Node: fmt.Sprint("node-", len(h.nodes)), NoHints: true})
	kit.Must(h, err)
	d := delivery.New(s, delivery.Config{Now: s.Now})
	d.SendThrough(h)
	ctx, cancel := context.WithCancel(context.Background())
	grace, endGrace := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, grace) }()
	n := &handOverNode{s, sync.OnceFunc(func() {
		cancel()
		defer endGrace()
		defer time.AfterFunc(8*time.Second, endGrace).Stop()
		kit.Must(h, <-ended)
		kit.Must(h, s.Close())
	}), sync.OnceFunc(func() {
		endGrace()
		cancel()
		<-ended
	})}
	h.nodes = append(h.nodes, n)
	return n
}

// RoundTrip is the receiver.
func (h *handOver) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.requests[field(r.Header, "webhook-id")]++
	h.mu.Unlock()
	select {
	case <-time.After(h.takes):
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// send queues a delivery to each of some new endpoints.
func (h *handOver) send(endpoints int) (sent []store.Delivery) {
	h.Helper()
	kit.Must(h, h.nodes[0].Update(h.Context(), store.All, func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: "org_test", Name: "Test"})
		for range endpoints {
			var e store.Endpoint
			if err == nil {
				e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: "org_test", URL: "https://receiver.example", Events: []string{store.EventWebhookTest}})
			}
			if err != nil {
				return err
			}
			d, err := store.SendTest(tx, "org_test", e.ID)
			if err != nil {
				return err
			}
			sent = append(sent, d)
		}
		return nil
	}))
	return sent
}

// check checks that each delivery was sent once, and recorded.
func (h *handOver) check(sent []store.Delivery) {
	h.Helper()
	kit.Must(h, h.nodes[len(h.nodes)-1].View(h.Context(), func(tx store.Tx) error {
		for _, d := range sent {
			d, err := tx.Delivery(d.ID)
			if err != nil {
				return err
			}
			h.mu.Lock()
			n := h.requests[d.ID]
			h.mu.Unlock()
			if n != 1 || d.State != store.StateAcknowledged || d.Attempts != 1 {
				h.Errorf("%s is sent %d times, and is %s after %d attempts", d.ID, n, d.State, d.Attempts)
			}
		}
		return nil
	}))
}
