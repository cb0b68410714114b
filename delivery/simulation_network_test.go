package delivery_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// network is what the dispatcher of a process sends through. It knows no
// connections: each request finds the receiver of its URL.
type network struct {
	w *world
	p *process
}

// RoundTrip brings a request to its receiver, and an answer back, as far as its
// context lets it.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	p, t, answer := n.w.arrives(n.p, r, string(body))
	if t == nil {
		return nil, io.ErrUnexpectedEOF
	}
	if err := wait(r.Context(), answer.after); err != nil {
		return nil, n.w.ends(p, t, err)
	}
	if answer.fault != nil {
		return nil, n.w.ends(p, t, answer.fault)
	}
	acked := answer.status/100 == 2
	return &http.Response{
		StatusCode: answer.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{},
		Body: &answerBody{r.Context(), strings.NewReader("thanks"), answer.trickle, func() { n.w.answered(p, t, acked) }},
	}, nil
}

// answerBody is the rest of an answer. Its Close is the end of the attempt.
type answerBody struct {
	ctx     context.Context
	text    io.Reader
	trickle time.Duration
	closed  func()
}

func (b *answerBody) Read(p []byte) (int, error) {
	if err := wait(b.ctx, b.trickle); err != nil {
		return 0, err
	}
	return b.text.Read(p)
}

func (b *answerBody) Close() error {
	b.closed()
	return nil
}

// wait lets time pass, or less of it when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// arrives begins an attempt: it checks that the request may be sent, and lets the
// receiver decide how to answer.
func (w *world) arrives(process *process, r *http.Request, body string) (*modelDelivery, *try, answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.byID[field(r.Header, "webhook-id")]
	if p == nil || p.gone && p.to.removedBy == nil {
		w.breaksLocked(arrival, "%s was sent to %s and is not there", field(r.Header, "webhook-id"), r.URL)
		return nil, nil, answer{}
	}
	w.checkRequest(p, r, body)
	w.checkAttempt(p, process)
	w.checkRate(p.to)
	t := &try{process: process.number, start: time.Now()}
	p.tries = append(p.tries, t)
	w.sum.attempts++
	p.to.requests++
	answer := p.to.answer(w.seed, time.Since(w.born))
	t.received = answer.received
	w.noteLocked("%s is sent to %s, attempt %d: %s", p.name, p.to.name, p.attempts+1, answer)
	return p, t, answer
}

func (w *world) checkRequest(p *modelDelivery, r *http.Request, body string) {
	w.checkAddress(p, r.URL.String(), r.Header.Get(tokenHeader))
	if body != p.body {
		w.breaksLocked(arrival, "%s was accepted as %s and sent as %s", p.name, p.body, body)
	}
	w.checkSignature(p, r.Header, body)
}

// ends is the end of an attempt without an answer.
func (w *world) ends(p *modelDelivery, t *try, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finishLocked(p, t)
	t.timedOut, t.cut = err == context.DeadlineExceeded, err == context.Canceled
	w.noteLocked("%s to %s fails: %v", p.name, p.to.name, err)
	return err
}

// answered is the end of an attempt with an answer.
func (w *world) answered(p *modelDelivery, t *try, acked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.over {
		return
	}
	w.finishLocked(p, t)
	if t.acked = acked; acked {
		w.noteLocked("%s is acknowledged by %s", p.name, p.to.name)
	} else {
		w.noteLocked("%s is refused by %s", p.name, p.to.name)
	}
}

func (w *world) finishLocked(p *modelDelivery, t *try) {
	t.over, t.end = true, time.Now()
	if took := t.end.Sub(t.start); took > deadline {
		w.breaksLocked(schedule, "an attempt of %s took %s", p.name, took)
	}
}

// character is how a receiver behaves.
type character struct {
	kind     string
	failing  float64       // how much of what it gets a flaky or a lossy one fails
	from, to time.Duration // when an absent one is absent, since the world began
	beat     time.Duration // it answers in whole ones of these, often several at once
}

const (
	healthy = "healthy" // answers within milliseconds
	slow    = "slow"    // answers within seconds
	flaky   = "flaky"   // fails at times
	lossy   = "lossy"   // takes what it gets, and its answers are lost at times
	absent  = "absent"  // is there but for a span of time
	dead    = "dead"    // is never there
	hanging = "hanging" // never answers
)

func newCharacter(r *rand.Rand) character {
	c := character{kind: pick(r, []string{healthy, healthy, slow, flaky, flaky, lossy, absent, absent, dead, hanging})}
	c.failing = pick(r, []float64{0.1, 0.4, 0.8})
	c.from = upTo(r, 20*time.Hour)
	c.to = c.from + upTo(r, 40*time.Hour)
	c.beat = pick(r, []time.Duration{time.Microsecond, 5 * time.Millisecond})
	return c
}

// answer is what becomes of a request.
type answer struct {
	after    time.Duration
	received bool  // the receiver got all of it
	fault    error // instead of an answer
	status   int
	trickle  time.Duration // between the parts of the answer's body
}

func (a answer) String() string {
	if a.fault != nil {
		return fmt.Sprintf("%v after %s, received: %t", a.fault, a.after, a.received)
	}
	return fmt.Sprintf("%d after %s", a.status, a.after)
}

const forever = time.Hour // longer than any deadline

// answer decides by the seed, the endpoint and how many requests that got, and
// not by what else goes on.
func (e *endpoint) answer(seed uint64, age time.Duration) answer {
	r := rand.New(rand.NewPCG(seed, e.number<<32|e.requests))
	well := answer{after: upTo(r, 10*time.Millisecond).Truncate(e.character.beat), received: true, status: pick(r, []int{200, 202, 204})}
	switch e.character.kind {
	case slow:
		well.after = upTo(r, 4*time.Second)
	case flaky:
		if r.Float64() < e.character.failing {
			return failure(r)
		}
		well.trickle = pick(r, []time.Duration{0, 0, time.Second, forever})
	case lossy:
		if r.Float64() < e.character.failing {
			return lost(r)
		}
	case absent:
		if e.character.from <= age && age < e.character.to {
			return failure(r)
		}
	case dead:
		return failure(r)
	case hanging:
		return answer{after: forever}
	}
	return well
}

// failure is one of the ways in which an attempt fails.
func failure(r *rand.Rand) answer {
	switch r.IntN(6) {
	case 0:
		return answer{status: pick(r, []int{500, 503, 404, 301}), after: upTo(r, 10*time.Millisecond)}
	case 1:
		return answer{status: 500, after: upTo(r, 14*time.Second), trickle: upTo(r, 2*time.Second)}
	case 2:
		return answer{after: forever, received: r.IntN(2) == 0}
	case 3:
		return answer{fault: io.EOF, after: upTo(r, time.Second), received: r.IntN(2) == 0}
	}
	return answer{fault: syscall.ECONNREFUSED}
}

// lost is an answer that does not come back.
func lost(r *rand.Rand) answer {
	if r.IntN(2) == 0 {
		return answer{after: forever, received: true}
	}
	return answer{fault: syscall.ECONNRESET, after: upTo(r, time.Second), received: true}
}
