package teamdatatest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

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
	http    *http.Server
	served  chan struct{}
	trusted []byte // the CAs of all receivers, in PEM form

	mu       sync.Mutex
	statuses []int // of the next answers; the last one stays
	events   []Event
	next     int           // the event that Next returns
	arrived  chan struct{} // closed with the next event
}

// Event is a webhook that was received.
type Event struct {
	ID         string // its webhook-id: that of the delivery, the same with every attempt
	Type       string // such as member.added
	OrgID      string
	EndpointID string
	Timestamp  time.Time       // of the attempt, in whole seconds
	Data       json.RawMessage // of its body
	Body       []byte          // as it was signed
	Status     int             // that it was answered with
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &Receiver{
		URL: "https://" + l.Addr().String(), t: t, srv: s, served: make(chan struct{}), trusted: a.ca.CertificatePEM(),
		statuses: []int{http.StatusNoContent}, arrived: make(chan struct{}),
	}
	r.http = &http.Server{Handler: r, TLSConfig: a.config.Clone(), ReadHeaderTimeout: limit, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(r.served)
		r.http.ServeTLS(l, "", "")
	}()
	return r
}

func (r *Receiver) close() {
	r.http.Close()
	<-r.served
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

// ServeHTTP answers a webhook.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	e, err := r.read(q)
	if store.IsNotFound(err) {
		http.NotFound(w, q)
		return
	}
	if err != nil {
		r.t.Errorf("the receiver refused %s %s: %v", q.Method, q.URL, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(r.put(e))
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

// read reads an event and verifies it.
func (r *Receiver) read(q *http.Request) (e Event, err error) {
	if e.Body, err = io.ReadAll(q.Body); err != nil {
		return e, err
	}
	e.ID = q.Header.Get(standardwebhooks.HeaderWebhookID)
	to, err := r.srv.endpointOf(e.ID)
	if err != nil {
		return e, err
	}
	e.OrgID, e.EndpointID = to.OrgID, to.ID
	if err := verify(to.Secret, e.Body, q.Header); err != nil {
		return e, err
	}
	seconds, err := strconv.ParseInt(q.Header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil {
		return e, err
	}
	e.Timestamp = time.Unix(seconds, 0).UTC()
	if off := r.srv.Now().Sub(e.Timestamp); off.Abs() > tolerance {
		return e, fmt.Errorf("its timestamp is %s off the server's clock", off)
	}
	err = json.Unmarshal(e.Body, &struct {
		Type *string
		Data *json.RawMessage
	}{&e.Type, &e.Data})
	return e, err
}

// tolerance is how far a timestamp may be off, as receivers have it.
const tolerance = 5 * time.Minute

func verify(secret string, body []byte, header http.Header) error {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return w.VerifyIgnoringTimestamp(body, header) // that is of the server's clock
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
