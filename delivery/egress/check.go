package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// check is a question whether the proxy answers for itself. All that have it at the same
// time share one.
type check struct {
	began time.Time
	done  chan struct{}
	err   error // a *Failure, a *noAnswer, or another that says nothing of the proxy
}

// Check asks the proxy for something that it has to answer by itself. The error is a
// [*Failure] unless it is this machine's, or ctx is done.
func (p *Proxy) Check(ctx context.Context) error {
	err := p.ping(ctx)
	if n, ok := errors.AsType[*noAnswer](err); ok {
		return n.failure()
	}
	return err
}

// ping asks with OPTIONS *, which is about the proxy itself (RFC 9110, section 9.3.7). Any
// status will do, except for 407: even a proxy that knows no OPTIONS answers that.
func (p *Proxy) ping(ctx context.Context) error {
	conn, err := p.reach(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	limited, cancel := context.WithTimeout(ctx, p.step)
	defer cancel()
	status, _, err := p.ask(limited, conn, http.MethodOptions, "*", p.address)
	switch {
	case err == nil && status == http.StatusProxyAuthRequired:
		return p.refusesUser()
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return (&noAnswer{p.address, "does not answer"}).failure()
	}
	return err
}

// shared has the result of the check that runs, or of a new one. It may take two steps. That
// the proxy worked for a check that began earlier says nothing of now: then it asks again.
func (p *Proxy) shared(ctx context.Context) error {
	for asked := time.Now(); ; {
		c := p.running()
		select {
		case <-c.done:
			if c.err != nil || !c.began.Before(asked) {
				return c.err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// running returns the check that runs, which may be a new one.
func (p *Proxy) running() *check {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.checking
	if c == nil {
		c = &check{began: time.Now(), done: make(chan struct{})}
		p.checking = c
		go func() {
			c.err = p.ping(p.ended)
			p.mu.Lock()
			p.checking = nil
			p.mu.Unlock()
			close(c.done)
		}()
	}
	return c
}

// checkAnswers tells why a CONNECT got no answer: nil if the proxy answers in HTTP
// otherwise, so that this was about the receiver.
func (p *Proxy) checkAnswers(ctx context.Context) *Failure {
	err := p.shared(ctx)
	if n, ok := errors.AsType[*noAnswer](err); ok {
		return n.failure()
	}
	f, _ := errors.AsType[*Failure](err)
	return f
}

// checkReacts tells why a CONNECT is not answered in time: nil if the proxy does anything
// at all when it is asked about itself.
func (p *Proxy) checkReacts(ctx context.Context) *Failure {
	f, _ := errors.AsType[*Failure](p.shared(ctx))
	return f
}

// attend runs dial, which goes through the proxy. If the proxy has answered nothing to anybody
// for two steps, it is asked whether it answers at all: if not, that is a failure before an
// attempt's time is over.
func (p *Proxy) attend(ctx context.Context, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	before := p.answers.Load()
	defer time.AfterFunc(2*p.step, func() {
		if p.answers.Load() != before {
			return
		}
		if f := p.checkReacts(ctx); f != nil {
			cancel(f)
		}
	}).Stop()
	return dial(ctx)
}
