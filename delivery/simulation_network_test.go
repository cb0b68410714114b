package delivery_test

import (
	"context"
	"io"
	"net/http"
	"strings"
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

// arrives begins an attempt: the request is held to what may be sent, and the
// receiver decides what becomes of it.
func (w *world) arrives(process *process, r *http.Request, body string) (*parcel, *try, answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.byID[field(r.Header, "webhook-id")]
	if p == nil || p.gone && p.to.removedBy == nil {
		w.breaksLocked(arrival, "%s was sent to %s and is not there", field(r.Header, "webhook-id"), r.URL)
		return nil, nil, answer{}
	}
	w.holdRequest(p, r, body)
	w.holdAttempt(p, process)
	t := &try{process: process.number, start: time.Now()}
	p.tries = append(p.tries, t)
	w.sum.attempts++
	p.to.requests++
	answer := p.to.answer(w.seed, time.Since(w.born))
	t.taken = answer.taken
	w.noteLocked("%s is sent to %s, attempt %d: %s", p.name, p.to.name, p.attempts+1, answer)
	return p, t, answer
}

func (w *world) holdRequest(p *parcel, r *http.Request, body string) {
	w.holdAddress(p, r.URL.String())
	if body != p.body {
		w.breaksLocked(arrival, "%s was accepted as %s and sent as %s", p.name, p.body, body)
	}
	w.holdSignature(p, r.Header, body)
}

// ends is the end of an attempt without an answer.
func (w *world) ends(p *parcel, t *try, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.landsLocked(p, t)
	t.timedOut, t.cut = err == context.DeadlineExceeded, err == context.Canceled
	w.noteLocked("%s to %s ends in vain: %v", p.name, p.to.name, err)
	return err
}

// answered is the end of an attempt with an answer.
func (w *world) answered(p *parcel, t *try, acked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.over {
		return
	}
	w.landsLocked(p, t)
	if t.acked = acked; acked {
		w.noteLocked("%s is acknowledged by %s", p.name, p.to.name)
	} else {
		w.noteLocked("%s is refused by %s", p.name, p.to.name)
	}
}

func (w *world) landsLocked(p *parcel, t *try) {
	t.over, t.end = true, time.Now()
	if took := t.end.Sub(t.start); took > deadline {
		w.breaksLocked(schedule, "an attempt of %s took %s", p.name, took)
	}
}
