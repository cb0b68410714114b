package pgstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of a transaction. Each sets them for itself, by its first statement,
// since behind a pooler a session is shared with others. A transaction that waits for
// us to go on keeps its locks: idle_in_transaction_session_timeout ends that of a
// connection which was cut without the server noticing, and of a node that is paused. All
// nodes wait for the locks of a group.
const (
	sqlBegin       = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE` // whatever the defaults of the role
	sqlLimits      = `SELECT set_config('statement_timeout', '8s', true), set_config('lock_timeout', '5s', true), set_config('idle_in_transaction_session_timeout', '5s', true)`
	sqlGroupLimits = `SELECT set_config('statement_timeout', '8s', true), set_config('lock_timeout', '5s', true), set_config('idle_in_transaction_session_timeout', '2s', true)`
	sqlLongLimits  = `SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '1min', true), set_config('idle_in_transaction_session_timeout', '1min', true)`
)

var errPoolClosed = errors.New("the connections are closed")

// loginPause is the time between logins after one that failed.
const loginPause = 50 * time.Millisecond

// pool is a fixed number of connections, opened when they are needed.
type pool struct {
	target  *Target
	answer  time.Duration // how long an answer may take
	tokens  chan struct{} // one for each connection in use
	waiting atomic.Int64  // calls that wait for one
	pausing sync.Mutex    // held by the next login after one that failed
	began   time.Time     // the last such login; guarded by pausing
	mu      sync.Mutex    // of the rest
	idle    []*conn       // the one used last at the end
	closed  bool
	failed  error // of the last login that ended
}

func newPool(target *Target, size int) *pool {
	return &pool{target: target, answer: answerTime, tokens: make(chan struct{}, size)}
}

// acquire waits for a connection until ctx is done. It goes back by release.
func (p *pool) acquire(ctx context.Context) (*conn, error) {
	select {
	case p.tokens <- struct{}{}:
	default:
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
	c, err := p.take()
	if err != nil {
		<-p.tokens
		return nil, err
	}
	if c == nil {
		if c, err = p.open(ctx); err != nil {
			return nil, err
		}
	}
	c.answer = p.answer
	return c, nil
}

// open makes a connection for a caller with a token, or gives the token back. If the
// caller goes away, the connection is the next one's: a login costs more than most
// requests, so that many impatient callers of a database that is back would have it do
// nothing but logins.
func (p *pool) open(ctx context.Context) (*conn, error) {
	var (
		c   *conn
		err error
	)
	opened := make(chan struct{})
	go func() {
		if c, err = p.login(context.WithoutCancel(ctx)); err != nil {
			<-p.tokens
		}
		select {
		case opened <- struct{}{}:
		case <-ctx.Done():
			if err == nil {
				p.release(c)
			}
		}
	}()
	select {
	case <-opened:
		return c, err
	case <-ctx.Done():
		return nil, p.target.refusal(context.Cause(ctx))
	}
}

// login makes a connection.
func (p *pool) login(ctx context.Context) (*conn, error) {
	if err := p.pause(); err != nil {
		return nil, err
	}
	c, err := p.target.connect(ctx, nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = err
	return c, err
}

// pause waits until a login may begin. After one that failed they begin one after the
// other, and who doesn't get a turn fails as that one did: a database that refuses its
// server would be busy with the logins of all requests.
func (p *pool) pause() error {
	p.mu.Lock()
	failed := p.failed
	p.mu.Unlock()
	if failed == nil {
		return nil
	}
	if !p.pausing.TryLock() {
		return failed
	}
	defer p.pausing.Unlock()
	<-time.After(time.Until(p.began.Add(loginPause)))
	p.began = time.Now()
	return nil
}

func (p *pool) wait(ctx context.Context) error {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	select {
	case p.tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take returns the idle connection that was used last, or nil.
func (p *pool) take() (c *conn, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed
	}
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	return c, nil
}

// release gives a connection back. A transaction that is still open is rolled back.
// If the connection is dead, so are probably those that are idle: they are closed.
func (p *pool) release(c *conn) {
	defer func() { <-p.tokens }()
	c.rollback()
	dead := c.IsClosed() // it is another caller's once it is idle
	p.mu.Lock()
	if !dead {
		p.idle = append(p.idle, c)
	}
	closed := p.closed
	p.mu.Unlock()
	if closed || dead {
		p.closeIdle()
	}
}

// rollback ends a transaction that is still open, and closes the connection if that
// fails.
func (c *conn) rollback() {
	if c.IsClosed() || c.TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := c.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		c.Close(ctx)
	}
}

// closeIdle closes the connections that are idle now.
func (p *pool) closeIdle() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, c := range idle {
		c.Close(ctx)
	}
}

// with runs fn with a connection.
func (p *pool) with(ctx context.Context, fn func(context.Context, *conn) error) error {
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(c)
	return fn(ctx, c)
}

// close closes the connections, those in use when they are released.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.closeIdle()
}
