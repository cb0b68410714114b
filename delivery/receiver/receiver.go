// Package receiver is a webhook receiver for developers: it verifies events with the
// Standard Webhooks reference library, prints and answers them, and can forward them.
// It comes to the verdict of any receiver, since it shares no code with the signing side.
//
// The command listen, the demo and teamdatatest receive with it. The handling of requests
// belongs in receiver.go, the web server in serve.go, the printing of events in print.go.
package receiver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// MaxBody is the maximum size of a request's body in bytes.
const MaxBody = 1 << 20

// Config is the secrets with which a receiver verifies, and how it answers. The
// zero value verifies nothing and answers 204.
type Config struct {
	Secrets  Secrets          // any of them may verify; none: nothing is verified
	Now      func() time.Time // the time by which timestamps are checked; nil is time.Now
	Status   int              // the answer to an event, 200 to 599; 0 is 204
	Delay    time.Duration    // before an event is answered
	Forward  Application      // gets each event and gives the status; may be nil
	Print    func(Event)      // prints an event, one call at a time; may be nil
	Answered func(Event)      // is called with each event after its answer; may be nil

	// SecretsOf returns the secrets of the endpoint that a webhook-id was sent to, instead
	// of Secrets. An event that it returns an error for is answered with 404. May be nil.
	SecretsOf func(id string) (Secrets, error)
}

// Application handles an event, with the header of its request, and returns the status
// to answer. An event that it returns an error for is answered with 502.
type Application func(ctx context.Context, header http.Header, e Event) (status int, err error)

// Receiver is an http.Handler for the requests of a webhook's sender.
type Receiver struct {
	config  Config
	stopped chan struct{}
	stop    func()

	mu   sync.Mutex // for what follows, and for Print
	seen recent
}

// New makes a receiver.
func New(config Config) *Receiver {
	r := &Receiver{config: config, stopped: make(chan struct{})}
	r.config.Status = cmp.Or(config.Status, http.StatusNoContent)
	r.stop = sync.OnceFunc(func() { close(r.stopped) })
	return r
}

// Stop ends all delays: waiting requests are answered now.
func (r *Receiver) Stop() { r.stop() }

// ServeHTTP answers an event as the Config says, even one that was received before.
// It answers 400 to a request that does not verify, 404 to one that SecretsOf doesn't
// know, 413 to a body longer than MaxBody, 405 to anything but a POST, and 502 when the
// event can't be forwarded.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "events are sent with POST", http.StatusMethodNotAllowed)
		return
	}
	e := r.receive(w, q)
	if e.Verdict == Refused {
		http.Error(w, e.Problem, e.Status)
		return
	}
	w.WriteHeader(e.Status)
	r.answered(e)
}

// receive reads a request and takes its event.
func (r *Receiver) receive(w http.ResponseWriter, q *http.Request) Event {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, MaxBody))
	if err != nil {
		e := r.event(q.Header, body)
		e.refuse(readProblem(err))
		r.print(e)
		return e
	}
	return r.take(q.Context(), q.Header, body)
}

// Take takes an event that came otherwise than by a request, such as one that was pulled, with
// the header that it would have. Its Status says what a request would be answered with.
func (r *Receiver) Take(ctx context.Context, header http.Header, body []byte) Event {
	e := r.take(ctx, header, body)
	if e.Verdict != Refused {
		r.answered(e)
	}
	return e
}

// Refuse prints an event that came otherwise than by a request, and must not be handled.
func (r *Receiver) Refuse(header http.Header, body []byte, problem string) {
	e := r.event(header, body)
	e.Type = typeOf(body)
	e.refuse(http.StatusBadRequest, problem)
	r.print(e)
}

// take verifies an event, passes it on, prints it, and waits until it may be answered.
func (r *Receiver) take(ctx context.Context, header http.Header, body []byte) Event {
	e := r.verified(header, body)
	if e.Verdict == Refused {
		r.print(e)
		return e
	}
	r.forward(ctx, header, &e)
	r.print(e)
	r.wait(ctx)
	return e
}

func (r *Receiver) event(header http.Header, body []byte) Event {
	return Event{ReceivedAt: time.Now(), Status: r.config.Status, ID: header.Get(standardwebhooks.HeaderWebhookID), Body: body}
}

func (r *Receiver) verified(header http.Header, body []byte) Event {
	e := r.event(header, body)
	e.Type = typeOf(e.Body)
	secrets, err := r.config.Secrets, error(nil)
	if r.config.SecretsOf != nil {
		if secrets, err = r.config.SecretsOf(e.ID); err != nil {
			e.refuse(http.StatusNotFound, err.Error())
			return e
		}
	}
	if e.Verdict = Verified; len(secrets) == 0 {
		e.Verdict = Unverified
	} else if err := secrets.verify(e.Body, header, r.config.Now); err != nil {
		e.refuse(http.StatusBadRequest, err.Error())
		return e
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Again = r.seen.add(e.ID)
	return e
}

// readProblem explains why a body could not be read.
func readProblem(err error) (status int, problem string) {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, "the body is longer than 1 MiB"
	}
	return http.StatusBadRequest, "the body broke off: " + err.Error()
}

func (r *Receiver) forward(ctx context.Context, header http.Header, e *Event) {
	if r.config.Forward == nil {
		return
	}
	status, err := r.config.Forward(ctx, header, *e)
	if e.Status = status; err != nil {
		e.Status, e.Problem = http.StatusBadGateway, err.Error()
	}
}

func (r *Receiver) print(e Event) {
	if r.config.Print == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.config.Print(e)
}

func (r *Receiver) answered(e Event) {
	if r.config.Answered != nil {
		r.config.Answered(e)
	}
}

// wait waits for the delay, unless the sender hangs up or the receiver stops.
func (r *Receiver) wait(ctx context.Context) {
	if r.config.Delay == 0 {
		return
	}
	select {
	case <-time.After(r.config.Delay):
	case <-ctx.Done():
	case <-r.stopped:
	}
}

// Verdict is whether an event is from the owner of the secret.
type Verdict string

// The verdicts.
const (
	Verified   Verdict = "verified"
	Unverified Verdict = "UNVERIFIED" // there is no secret to verify it with
	Refused    Verdict = "REFUSED"    // it must not be handled
)

// Event is a received request and its verdict. ID, Type, Body and Problem may
// contain untrusted text: Text and JSONLines make it safe to print.
type Event struct {
	ReceivedAt time.Time
	Verdict    Verdict
	ID         string // the webhook-id
	Type       string // "" if the body names none
	Again      bool   // the id was seen before, among the last 10,000 at least
	Status     int    // the answer's
	Problem    string // why it was refused or could not be forwarded, in words
	Body       []byte
}

func (e *Event) refuse(status int, problem string) {
	e.Verdict, e.Status, e.Problem = Refused, status, problem
}

func typeOf(body []byte) string {
	var event struct{ Type string }
	if json.Unmarshal(body, &event) != nil {
		return ""
	}
	return event.Type
}

// minRecent is how many ids are remembered at least, by their hashes: an id is as long as
// its sender likes.
const minRecent = 10_000

// recent remembers the latest ids, in bounded memory: a set that is full is kept until the
// next one is.
type recent struct{ full, filling map[[sha256.Size]byte]bool }

// add remembers an id, and reports whether it was known already.
func (r *recent) add(id string) (again bool) {
	hash := sha256.Sum256([]byte(id))
	if r.full[hash] || r.filling[hash] {
		return true
	}
	if r.filling == nil || len(r.filling) == minRecent {
		r.full, r.filling = r.filling, make(map[[sha256.Size]byte]bool)
	}
	r.filling[hash] = true
	return false
}
