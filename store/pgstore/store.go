package pgstore

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/engine"
)

// Options tune the engine. The zero value is for production.
type Options struct {
	// Now is the clock; nil means that of the database.
	Now func() time.Time
	// Connections is the maximum number of connections to the database, of which two
	// are the writer's; 0 means DefaultConnections, and the minimum is 3.
	Connections int
	// Sealer seals the database's secrets; nil leaves them in plain text. A database
	// is sealed as a whole, and from then on opens only with its Sealer.
	Sealer codec.Sealer
	// HTTPOnLoopback lets endpoints have http:// URLs of this machine: for tests.
	HTTPOnLoopback bool
	// PollEvery is how often the Store looks what other servers changed; 0 means
	// DefaultPollEvery.
	PollEvery time.Duration
	// BeforeCommit is called before each commit of Updates, for tests. An error fails
	// the commit, as a full disk would.
	BeforeCommit func() error
}

// DefaultConnections is the maximum number of connections where Options set none.
const DefaultConnections = 10

const writerConnections = 2 // one to commit, and one to ask what became of that

// Store is a PostgreSQL database as a store.Store.
type Store struct {
	target      *Target
	options     Options
	pool        *pool
	writing     *pool // the writer's own, so that no reader delays it
	seal        codec.Sealing
	node        string // id of this server's row in nodes
	store.Alone        // this server is the only one
	engine.Notices
	engine.Watch
	offset    atomic.Int64 // of the database's clock to ours, in nanoseconds
	sealedNow bool         // by this Open

	queue      *engine.Queue
	limits     limits
	idsMu      sync.Mutex
	ids        store.IDSource
	doubt      *doubt // the writer's
	doubts     doubts
	retries    atomic.Uint64 // of groups that met another server
	partitions partitions
	life       context.Context
	end        context.CancelCauseFunc
	stop       chan struct{} // closed by Close
	stopping   sync.Once
	polled     chan struct{} // closed when the poller has ended
}

var _ store.Engine = (*Store)(nil)

// Life is done once the Store can't continue: the database no longer knows it.
func (s *Store) Life() context.Context { return s.life }

// forgotten ends the Life of a Store whose database was replaced by another one.
func (s *Store) forgotten() error {
	err := &Error{Place: s.target.String(), Text: "no longer knows this server", Advice: "start teamdata again"}
	s.end(err)
	return err
}

// CheckPlace finds nothing: each commit finds out whether the database knows this
// server.
func (s *Store) CheckPlace() error { return nil }

// Open opens the database of a target, and makes its tables if it is empty. Its
// errors are one line for the operator, with a hint, and leave the database as it was.
func Open(ctx context.Context, target *Target, o Options) (*Store, error) {
	if o.Connections == 0 {
		o.Connections = DefaultConnections
	}
	s := &Store{
		target: target, options: o, seal: codec.Sealing{Sealer: o.Sealer},
		queue: engine.NewQueue(), stop: make(chan struct{}), polled: make(chan struct{}),
	}
	s.pool, s.writing = newPool(target, max(o.Connections-writerConnections, 1)), newPool(target, writerConnections)
	s.life, s.end = context.WithCancelCause(context.Background())
	err := s.prepare(ctx)
	if err == nil {
		err = s.makeAhead(ctx)
	}
	if err != nil {
		s.closePools()
		return nil, err
	}
	go s.queue.Run(s.commit)
	go s.poll()
	if err := s.sealAll(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// prepare brings the tables to this program's schema and continues from what the
// database holds: new ids follow the existing ones, even if the clock stepped back.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.pool.prepare(ctx, migrations, upgrading); err != nil {
		return err
	}
	c, err := s.pool.acquire(ctx)
	if err != nil {
		return err
	}
	defer s.pool.release(c)
	if err := c.awaitUpdates(ctx); err != nil {
		return s.target.refusal(err)
	}
	last, err := c.rows(ctx, newQuery("SELECT "+newestIDs))
	if err != nil {
		return s.target.refusal(err)
	}
	for _, id := range last[0] {
		s.ids.Follow(string(id))
	}
	s.node = new(store.IDSource).Next("nod_", time.Now())
	if _, err := c.run(ctx, newQuery("INSERT INTO nodes (id, commit_no) VALUES ($1, 0)", s.node)); err != nil {
		return s.target.refusal(err)
	}
	return s.setClock(ctx, c)
}

// awaitUpdates waits for the transactions that run: a server that was killed may have
// sent one whose commit is still to come.
func (c *conn) awaitUpdates(ctx context.Context) error {
	_, err := c.run(ctx, query{sql: sqlBegin}, query{sql: sqlLimits},
		newQuery("SELECT pg_advisory_xact_lock($1)", int64(updateLock)), query{sql: "COMMIT"})
	return err
}

const sqlClock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"

func (s *Store) setClock(ctx context.Context, c *conn) error {
	rows, err := c.rows(ctx, newQuery(sqlClock))
	if err == nil {
		s.offset.Store(int64(time.Until(readTime(rows[0][0]))))
	}
	return err
}

// now is the time of the database, or of Options.Now.
func (s *Store) now() time.Time {
	if s.options.Now != nil {
		return s.options.Now().UTC().Truncate(time.Millisecond)
	}
	return time.Now().Add(time.Duration(s.offset.Load())).UTC().Truncate(time.Millisecond)
}

// View runs fn on a consistent snapshot of the data.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.view(ctx, func(t *tx) error { return fn(t) })
}

// view runs fn once more if its connection turns out to be dead, as after a restart of
// the database.
func (s *Store) view(ctx context.Context, fn func(*tx) error) error {
	stale, err := s.viewOnce(ctx, fn)
	if stale {
		_, err = s.viewOnce(ctx, fn)
	}
	return err
}

func (s *Store) viewOnce(ctx context.Context, fn func(*tx) error) (stale bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.life.Err() != nil {
		return false, fault(context.Cause(s.life))
	}
	c, err := s.pool.acquire(ctx)
	if err != nil {
		return false, fault(err)
	}
	t := &tx{s: s, ctx: ctx, conn: c, now: s.now()}
	defer s.release(t)
	defer s.EnterView().Store(0)
	err = fn(t)
	return t.err != nil && !t.answered && broken(t.err), err
}

// release ends a View's transaction behind the caller's back, who has no more to wait
// for.
func (s *Store) release(t *tx) {
	if t.begun && t.err == nil {
		go s.pool.release(t.conn)
	} else {
		s.pool.release(t.conn)
	}
}

// DefaultPollEvery is how often the generations that other servers bump are read where
// Options don't say.
const DefaultPollEvery = time.Second

// poll watches the generations until the store is closed, and tidies up meanwhile.
func (s *Store) poll() {
	defer close(s.polled)
	ticker, tidying := time.NewTicker(cmp.Or(s.options.PollEvery, DefaultPollEvery)), time.NewTicker(tidyEvery)
	defer ticker.Stop()
	defer tidying.Stop()
	seen := map[string]int64{}
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.readGenerations(seen)
			_ = s.makeAhead(s.life) // if that fails, the next one does it, or the writer
		case <-tidying.C:
			s.tidy(s.life)
		}
	}
}

// tidyEvery is how often what nobody needs any longer is deleted.
const tidyEvery = time.Minute

// goneAfter is how long after a server was last seen its row in nodes is deleted. By
// then nothing can be asked about its last commit any more; should it only have slept,
// its next commit finds that it is not known, and it ends.
const goneAfter = 7 * 24 * time.Hour

// tidy deletes ids without a time in the window of their limit, and servers that were
// killed long ago. What fails is left for the next time.
func (s *Store) tidy(ctx context.Context) error {
	return s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		_, errLimits := c.run(ctx, newQuery(sqlForget))
		_, errSeen := c.run(ctx, newQuery("UPDATE nodes SET seen = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = $1", s.node))
		_, errGone := c.run(ctx, newQuery("DELETE FROM nodes WHERE seen < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - $1", goneAfter.Milliseconds()))
		return errors.Join(errLimits, errSeen, errGone)
	})
}

func (s *Store) readGenerations(seen map[string]int64) {
	var rows []row
	err := s.pool.with(s.life, func(ctx context.Context, c *conn) (err error) {
		rows, err = c.rows(ctx, newQuery("SELECT name, n FROM generations"))
		return err
	})
	if err != nil {
		return // the next one sees it
	}
	for _, r := range rows {
		name, n := string(r[0]), readBigint(r[1])
		if before, known := seen[name]; known && before == n {
			continue
		}
		seen[name] = n
		s.Tell(&engine.Changes{Touched: name == accessGeneration, Retyped: name == typeGeneration})
	}
}

// The names of generations.
const (
	accessGeneration = "access"
	typeGeneration   = "eventTypes"
)

// Close waits for pending Updates and closes the connections.
func (s *Store) Close() error {
	s.queue.Close()
	s.stopping.Do(func() { close(s.stop) })
	<-s.polled
	err := s.pool.with(context.Background(), func(ctx context.Context, c *conn) error {
		_, err := c.run(ctx, newQuery("DELETE FROM nodes WHERE id = $1", s.node))
		return err
	})
	s.closePools()
	if err == errPoolClosed { // it was closed before
		err = nil
	}
	return fault(err)
}

func (s *Store) closePools() {
	s.pool.close()
	s.writing.close()
}
