package teamdatatest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/delivery/receiver"
	"teamdata/internal/localca"
	"teamdata/store"
)

// Receiver receives a server's webhooks over HTTPS, at every path below its URL. It
// verifies each with the library that receivers use, and the test fails if a signature
// or a timestamp is wrong. A webhook whose endpoint the test has deleted meanwhile is not
// an event, and is answered with 404.
type Receiver struct {
	URL string // such as https://127.0.0.1:40123

	t       testing.TB
	srv     *Server
	close   func() // ends its web server
	trusted []byte // the CAs of all receivers, in PEM form

	mu       sync.Mutex
	statuses []int // of the next answers; the last one stays
	events   []Event
	next     int           // the event that Next returns
	arrived  chan struct{} // closed with the next event
}

// Event is a webhook that was received, or pulled.
type Event struct {
	ID         string // its webhook-id: that of the delivery, the same with every attempt
	Type       string // such as member.added
	OrgID      string
	EndpointID string
	Timestamp  time.Time       // of the attempt or pull, in whole seconds
	Data       json.RawMessage // of its body
	Body       []byte          // as it was signed
	Status     int             // of the answer to it; 0: it was pulled
}

// Receiver returns the server's receiver, where the endpoints of [Endpoint] are.
func (s *Server) Receiver() *Receiver { return s.receiver }

// Trust lets the server send to receivers with the certificates given, or with those
// that they issued.
func Trust(certificates ...*x509.Certificate) Option {
	return func(s *Server) {
		for _, c := range certificates {
			s.receiver.trusted = append(s.receiver.trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
		}
	}
}

// authority is the CA of all receivers of this process, and its certificate for them.
var authority = sync.OnceValues(func() (a struct {
	ca     *localca.CA
	config *tls.Config
}, err error) {
	if a.ca, err = localca.NewCA(time.Now(), "teamdatatest"); err == nil {
		a.config, err = a.ca.ServerConfig(time.Now(), "127.0.0.1")
	}
	return a, err
})

func startReceiver(t testing.TB, s *Server) *Receiver {
	t.Helper()
	a, err := authority()
	must(t, err)
	r := &Receiver{t: t, srv: s, trusted: a.ca.CertificatePEM(), statuses: []int{http.StatusNoContent}, arrived: make(chan struct{})}
	r.URL, r.close, err = receiver.Serve(receiver.New(receiver.Config{SecretsOf: r.secretsOf, Now: s.Now, Forward: r.handle, Print: r.check}), a.config)
	must(t, err)
	return r
}

// reset forgets all events. The answers stay as they are.
func (r *Receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events, r.next = nil, 0
}

// Answer sets the statuses of the next answers, each of 200 to 599. The last one is
// that of all answers after it. Without statuses it is 204, as at the start.
func (r *Receiver) Answer(statuses ...int) {
	r.t.Helper()
	for _, status := range statuses {
		if status < 200 || status > 599 {
			r.t.Fatalf("a webhook can't be answered with the status %d", status)
		}
	}
	if len(statuses) == 0 {
		statuses = []int{http.StatusNoContent}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses = slices.Clone(statuses)
}

// Next waits for the next event, in the order in which they were received, whatever
// they were answered with. The test fails if ctx is done first, or after a minute.
func (r *Receiver) Next(ctx context.Context) Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		e, ok, arrived := r.take()
		if ok {
			return e
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			r.t.Fatalf("no webhook came: %v", ctx.Err())
		}
	}
}

func (r *Receiver) take() (e Event, ok bool, arrived <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok = r.next < len(r.events); ok {
		e = r.events[r.next]
		r.next++
	}
	return e, ok, r.arrived
}

// Events returns all events received so far, in order.
func (r *Receiver) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// secretsOf returns the secret of the endpoint that a webhook is sent to.
func (r *Receiver) secretsOf(id string) (receiver.Secrets, error) {
	to, err := r.srv.endpointOf(id)
	if err != nil {
		if !store.IsNotFound(err) {
			r.t.Errorf("the endpoint of the webhook %s: %v", id, err)
		}
		return nil, err
	}
	return receiver.ParseSecrets(to.Secret)
}

// check fails the test if a webhook is wrong.
func (r *Receiver) check(e receiver.Event) {
	if e.Problem != "" && e.Status != http.StatusNotFound {
		r.t.Errorf("the receiver refused the webhook %s: %s", e.ID, e.Problem)
	}
}

// handle keeps a verified webhook, and returns the status to answer it with.
func (r *Receiver) handle(_ context.Context, header http.Header, came receiver.Event) (int, error) {
	e, err := r.srv.eventOf(header, came)
	if store.IsNotFound(err) {
		return http.StatusNotFound, nil // the endpoint was deleted just now
	}
	if err != nil {
		return 0, err
	}
	return r.put(e), nil
}

// eventOf is an event that was sent or pulled, with its header.
func (s *Server) eventOf(header http.Header, came receiver.Event) (Event, error) {
	to, err := s.endpointOf(came.ID)
	if err != nil {
		return Event{}, err
	}
	seconds, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil {
		return Event{}, err
	}
	e := Event{ID: came.ID, Type: came.Type, OrgID: to.OrgID, EndpointID: to.ID, Timestamp: time.Unix(seconds, 0).UTC(), Body: came.Body}
	return e, json.Unmarshal(e.Body, &struct{ Data *json.RawMessage }{&e.Data})
}

// put keeps an event, and returns the status to answer it with.
func (r *Receiver) put(e Event) (status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Status = r.statuses[0]; len(r.statuses) > 1 {
		r.statuses = r.statuses[1:]
	}
	r.events = append(r.events, e)
	close(r.arrived)
	r.arrived = make(chan struct{})
	return e.Status
}

// endpointOf returns the endpoint that a delivery is sent to.
func (s *Server) endpointOf(delivery string) (e store.Endpoint, err error) {
	err = s.app.Store().View(context.Background(), func(tx store.Tx) error {
		d, err := tx.Delivery(delivery)
		if err != nil {
			return err
		}
		e, err = tx.Endpoint(d.OrgID, d.EndpointID)
		return err
	})
	return e, err
}
