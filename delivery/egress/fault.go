package egress

import (
	"context"
	"errors"
	"net"
	"time"
)

// Bounds of what is remembered of targets.
const (
	ownFor     = 10 * time.Second // that a failure was about one receiver alone
	maxOwn     = 1000             // targets
	maxRefused = 100              // targets
)

// targets is what is known of them, each a host:port. A failure for one of them is the proxy's
// only if it fails for others as well, or if no other is known.
type targets struct {
	served  [2]string            // for which the proxy answered last, the latest first; or empty
	at      time.Time            // when it did for the latest
	refused map[string]bool      // for which it would have been asked while it failed
	own     map[string]time.Time // for which alone it failed, and when that was found out
}

func (p *Proxy) noteServed(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.targets
	if t.at = time.Now(); t.served[0] != target {
		t.served = [2]string{target, t.served[0]}
	}
	delete(t.own, target)
}

func (p *Proxy) noteRefused(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.targets
	if t.refused == nil {
		t.refused = map[string]bool{}
	}
	t.refused[target] = true
	for other := range t.refused {
		if len(t.refused) > maxRefused && other != target {
			delete(t.refused, other)
		}
	}
}

// witnesses returns up to three targets, but not the one given, to ask the proxy for; of those
// that were refused, it is any one. known says that the failure is known to be target's own.
func (p *Proxy) witnesses(target string) (list []string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.targets
	if time.Since(t.own[target]) < ownFor {
		return nil, true
	}
	for _, served := range t.served {
		if served != "" && served != target {
			list = append(list, served)
		}
	}
	for refused := range t.refused {
		if refused != target {
			return append(list, refused), false
		}
	}
	return list, false
}

// servedSince reports whether the proxy answered for a receiver other than target since a time.
func (p *Proxy) servedSince(at time.Time, target string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.targets.served[0] != target && p.targets.at.After(at)
}

// servesOthers reports whether the proxy answers for a receiver other than target, or if that
// is empty for any. It takes a step at most.
func (p *Proxy) servesOthers(ctx context.Context, target string) bool {
	ctx, cancel := context.WithTimeout(ctx, p.step)
	defer cancel()
	list, known := p.witnesses(target)
	answers := make(chan bool, len(list))
	for _, witness := range list {
		go func() { answers <- p.serves(ctx, witness) }()
	}
	for range list {
		if <-answers {
			p.noteOwn(target)
			return true
		}
	}
	return known
}

func (p *Proxy) serves(ctx context.Context, target string) bool {
	conn, err := p.connect(ctx, target)
	if err == nil {
		conn.Close()
	}
	_, answered := errors.AsType[*Answer](err)
	return err == nil || answered
}

func (p *Proxy) noteOwn(target string) {
	if target == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := &p.targets; t.own == nil || len(t.own) >= maxOwn {
		t.own = map[string]time.Time{}
	}
	p.targets.own[target] = time.Now()
}

// blame decides whether a failure for target is the proxy's, which is noted then, or that
// receiver's own, which is another error: it is the latter if the proxy answers for a target
// that is not except, or if ctx is done before that is known. Many fail at once, and are judged
// one after the other, each within a step; the first verdict decides for those that wait.
func (p *Proxy) blame(ctx context.Context, f *Failure, target, except string) error {
	if f.own != nil {
		failedAt := time.Now()
		select {
		case p.judging <- struct{}{}:
			defer func() { <-p.judging }()
		case <-ctx.Done():
		}
		if p.Down() == nil && (p.servedSince(failedAt, except) || p.servesOthers(ctx, except) || ctx.Err() != nil) {
			return f.own
		}
	}
	p.shut(f, target)
	return f
}

type useKey struct{}

// WithUse returns a context with which Dial calls use once it goes through the proxy, with the
// host:port of the receiver.
func WithUse(ctx context.Context, use func(target string)) context.Context {
	return context.WithValue(ctx, useKey{}, use)
}

// watch runs dial, which goes through the proxy to target, or to one of several of which that
// is the first, and judges its failure.
func (p *Proxy) watch(ctx context.Context, target string, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	if use, ok := ctx.Value(useKey{}).(func(string)); ok {
		use(target)
	}
	conn, err := p.attend(ctx, dial)
	if f, failed := errors.AsType[*Failure](err); failed && !f.told {
		err = p.blame(ctx, f, target, target)
	}
	return conn, err
}

// Fault returns how the proxy failed while somebody used a tunnel to target, or waited for one,
// since a time and until the connection ended or nothing came: it failed meanwhile, or does so
// when it is asked now. nil: it works as far as a probe could tell, and this is the receiver's.
// Without a tunnel a proxy that reacts was waiting for the receiver; with one, another in its
// place may close what it gets. It takes four steps of [Config] at most.
func (p *Proxy) Fault(ctx context.Context, target string, hadTunnel bool, since time.Time) *Failure {
	if f := p.failedSince(since); f != nil {
		return f
	}
	check := p.checkReacts
	if hadTunnel {
		check = p.checkAnswers
	}
	if f := check(ctx); f != nil && p.blame(ctx, f, target, "") == error(f) {
		return f
	}
	return nil
}
