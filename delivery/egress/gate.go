package egress

import (
	"context"
	"errors"
	"net"
	"time"
)

// The pauses between two probes of a proxy that has failed: the first, and the longest.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// Down returns how the proxy failed last, if it has not worked since; else nil. Meanwhile
// Dial connects to exceptions alone, and returns that failure for others.
func (p *Proxy) Down() *Failure { return p.down.Load() }

// shut notes a failure, which Dial returns from now on, and probes the proxy with the target
// for which it failed until it works again.
func (p *Proxy) shut(f *Failure, target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.Err() != nil || !p.down.CompareAndSwap(nil, f) {
		return
	}
	p.targets.own = nil // nothing of before is known of the proxy that comes back
	p.log.Error().Str("reason", f.Error()).Str("hint", "check --egress-proxy, the proxy, and the way there").
		Msg("webhooks can't be sent because the egress proxy fails; they don't count as attempts, and sending resumes by itself")
	p.probing.Go(func() {
		p.onDown()
		p.probe(target)
	})
}

// probe asks again and again, and opens the gate when the proxy works.
func (p *Proxy) probe(target string) {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		select {
		case <-p.ended.Done():
			return
		case <-time.After(pause):
		}
		if f := p.probeOnce(target); f == nil {
			break
		} else if p.ended.Err() != nil {
			return
		} else {
			p.down.Store(f)
		}
	}
	p.onDown() // tunnels were in use then that are not now
	p.mu.Lock()
	p.last, p.upSince = p.down.Swap(nil), time.Now()
	p.targets.refused = nil
	p.mu.Unlock()
	p.log.Info().Dur("after", time.Since(began)).Msg("the egress proxy works again, and webhooks are being sent")
	p.onUp()
}

// probeOnce returns how the proxy fails; nil if it gives a tunnel to target, answers with
// anything that is the receiver's, or fails for that receiver alone.
func (p *Proxy) probeOnce(target string) *Failure {
	ctx, cancel := context.WithTimeout(p.ended, 5*p.step)
	defer cancel()
	conn, err := p.attend(ctx, func(ctx context.Context) (net.Conn, error) { return p.connectOrCheck(ctx, target) })
	if err == nil {
		conn.Close()
		return nil
	}
	f, failed := errors.AsType[*Failure](err)
	switch {
	case failed && f.own != nil && p.servesOthers(ctx, target):
		return nil
	case !failed && (p.isLocal(err) || p.ended.Err() != nil):
		return p.failure("can't be asked", nil)
	}
	return f
}

// failedSince returns how the proxy failed at any time since another.
func (p *Proxy) failedSince(at time.Time) *Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.Down(); f != nil || p.upSince.Before(at) {
		return f
	}
	return p.last
}
