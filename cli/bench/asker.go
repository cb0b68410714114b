package bench

import (
	"context"
	"time"
)

// asker asks a server in turns of the same length, on connections that stay.
type asker struct {
	crowd
	request func(i int) string // of caller i
	lasts   time.Duration      // of one turn
}

// newAsker connects, and asks for a moment already: the first requests are
// slower than all that follow.
func (s *session) newAsker(ctx context.Context, t target, callers int, request func(i int) string) (*asker, error) {
	c, err := dialCrowd(ctx, t, callers)
	if err != nil {
		return nil, err
	}
	a := &asker{c, request, s.Duration}
	if _, err := c.askFor(ctx, s.Duration/10, request); err != nil {
		c.close()
		return nil, err
	}
	return a, nil
}

// turn returns the answers a second.
func (a *asker) turn(ctx context.Context) (float64, error) {
	return a.askFor(ctx, a.lasts, a.request)
}

// bareAsker asks a bare handler in a process of its own, which it owns.
type bareAsker struct {
	*asker
	process *partProcess
}

func (s *session) newBareAsker(ctx context.Context, answerBytes, callers int, request string) (*bareAsker, error) {
	p, handler, err := s.serveBare(ctx, answerBytes)
	if err != nil {
		return nil, err
	}
	a, err := s.newAsker(ctx, handler, callers, always(request))
	if err != nil {
		p.kill()
		return nil, err
	}
	return &bareAsker{a, p}, nil
}

func (b *bareAsker) end() {
	b.close()
	b.process.kill()
}
