package delivery

import (
	"context"
	"net/http"
	"testing"

	"teamdata/store"
)

// BenchmarkSend is one attempt without the network: what the sender itself and
// net/http's client cost. BenchmarkSendFloor is a bare client's POST.
func BenchmarkSend(b *testing.B) {
	s := newSender(Config{}.withDefaults())
	s.network = atOnce{}
	e := store.Endpoint{URL: "https://receiver.example/hook", Secret: store.NewEndpointSecret()}
	c := store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{"type":"webhook.test"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if a, _ := s.send(context.Background(), &e, &c); !a.Acknowledged() {
			b.Fatal(a.Reason)
		}
	}
}

func BenchmarkSendFloor(b *testing.B) {
	client := http.Client{Transport: atOnce{}}
	b.ReportAllocs()
	for b.Loop() {
		r, err := client.Post("https://receiver.example/hook", "application/json", nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Body.Close()
	}
}

// BenchmarkSendOverLoopback is one attempt over a connection that is kept.
func BenchmarkSendOverLoopback(b *testing.B) {
	r := newReceiver(b, nil)
	r.got = make(chan received, 1)
	go func() {
		for range r.got {
		}
	}()
	s := newSender(Config{RootCAs: r.roots()}.withDefaults())
	e := store.Endpoint{URL: r.URL, Secret: store.NewEndpointSecret()}
	c := store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{"type":"webhook.test"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if a, _ := s.send(context.Background(), &e, &c); !a.Acknowledged() {
			b.Fatal(a.Reason)
		}
	}
}

// atOnce answers 204 to everything.
type atOnce struct{}

func (atOnce) RoundTrip(q *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: q}, nil
}
