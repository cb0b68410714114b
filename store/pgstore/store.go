package pgstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// Options tune the engine. The zero value is for production.
type Options struct {
	// Now is the clock; nil means that of the database.
	Now func() time.Time
	// Sealer seals the database's secrets; nil leaves them in plain text. A database
	// is sealed as a whole, and from then on opens only with its Sealer.
	Sealer rows.Sealer
	// Node is the name of this server among those on the database. One that serves has
	// a name, which no other has at the time. A command has none: it claims nothing, and
	// keeps nothing of the database in memory.
	Node string
	// Version is that of the program, for those who list the nodes.
	Version string
	// NoHints leaves it to polling to find out what other nodes did: for tests.
	NoHints bool
	// ForTests is for a server that is being tested: Clear deletes its data, and endpoints
	// may have http:// URLs of this machine. It makes the tables of an empty database, which
	// is for tests from then on: nothing else may write to that one, and it to no other.
	// One such server uses it at a time.
	ForTests bool
	// Exporting is for a command that changes no record, and so may use a database for
	// tests, or one whose data was carried to another place.
	Exporting bool
	// Sole says that no other server uses the database meanwhile, so that this one need
	// not look for any, nor write over what it claimed and run again when that has changed:
	// for tests whose time is not that of the database, or that count what runs.
	Sole bool
	// BeforeCommit is called before each commit of Updates, for tests. An error fails
	// the commit, as a full disk would.
	BeforeCommit func() error
	// migrations are others than the program's, for tests.
	migrations []migration
}

// access is what a server with these options is going to do with the database.
func (o *Options) access() access {
	switch {
	case o.ForTests:
		return forTests
	case o.Exporting:
		return exporting
	}
	return upgrading
}

const (
	readerConnections = 8
	writerConnections = 2 // one to commit, and one to ask what became of that
	// ServerConnections is how many connections a server opens to the database at most, with
	// those for what the nodes have to tell one another.
	ServerConnections = readerConnections + writerConnections + coordinating + 1
)

// Store is a PostgreSQL database as a store.Store.
type Store struct {
	target  *Target
	options Options
	pool    *pool
	writing *pool // the writer's own, so that no reader delays it
	seal    rows.Sealing
	node    *node
	engine.Notices
	engine.Watch
	databaseClock
	recent    recent
	records   rows.Writing // of one group after the other, whose memory is not used again
	sealedNow bool         // by this Open

	queue      *engine.Queue
	limits     limits
	ids        ids
	crowded    time.Time // when it last met other nodes
	doubts     doubts
	retries    atomic.Uint64 // of groups that met another server
	partitions partitions
	life       context.Context
	end        context.CancelCauseFunc
	running    context.Context // done once it is closed, or its life is over
	stop       context.CancelFunc
	background sync.WaitGroup
}

var _ store.Engine = (*Store)(nil)

// Life is done once the Store can't continue: the database no longer knows it.
func (s *Store) Life() context.Context { return s.life }

// CheckPlace finds nothing: each commit finds out whether the database knows this
// server.
func (s *Store) CheckPlace() error { return nil }

// Open opens the database of a target, and makes its tables if it is empty. Its
// errors are one line for the operator, with a hint, and leave the database as it was.
func Open(ctx context.Context, target *Target, o Options) (*Store, error) {
	s := &Store{
		target: target, options: o, seal: rows.Sealing{Sealer: o.Sealer},
		queue: engine.NewQueue(),
	}
	s.pool, s.writing = newPool(target, readerConnections), newPool(target, writerConnections)
	s.life, s.end = context.WithCancelCause(context.Background())
	s.running, s.stop = context.WithCancel(s.life)
	s.node = newNode(host{s.life, s.running, &s.databaseClock, s.Tell, s.announce, s.replaced}, target, o)
	err := s.prepare(ctx)
	if err == nil {
		err = s.makeAhead(ctx)
	}
	if err != nil {
		s.closePools()
		return nil, err
	}
	s.queue.Turns = s.turns
	go s.queue.Run(s.commit)
	s.background.Go(s.tidies)
	s.node.start(&s.background)
	if err := s.sealAll(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// prepare brings the tables to this program's schema and continues from what the
// database holds: new ids follow the existing ones, even if the clock stepped back.
func (s *Store) prepare(ctx context.Context) error {
	steps := s.options.migrations
	if steps == nil {
		steps = ownMigrations()
	}
	if err := s.pool.prepare(ctx, steps, s.options.access()); err != nil {
		return err
	}
	_, s.node.schema = ends(steps)
	// The lock waits for the transactions that run: a server that was killed may have sent
	// one whose commit is still to come.
	var last, clock []row
	err := s.pool.run(ctx, query{sql: sqlBegin}, query{sql: sqlLimits}, query{sql: sqlStopUpdates},
		newQuery("SELECT "+newestIDs).collect(&last), newQuery(sqlClock).collect(&clock), query{sql: "COMMIT"})
	if err != nil {
		return s.target.refusal(err)
	}
	for _, id := range last[0] {
		s.ids.follow(string(id))
	}
	s.setTime(readTime(clock[0][0]))
	switch current, err := s.node.register(ctx); {
	case err != nil:
		return s.target.refusal(err)
	case !current: // a newer program or migrate was faster, or there is another server for tests
		if err := s.pool.prepare(ctx, steps, s.options.access()); err != nil {
			return err
		}
		return s.target.refusal(&Error{Text: "is used by another server for tests", Advice: "stop that one, or give each a database of its own; one that was killed is gone after some seconds", Passes: true})
	}
	s.node.look(ctx)
	if _, err := s.node.beat(); err != nil {
		return s.target.refusal(err)
	}
	return nil
}

// tidyEvery is how often the tables are kept in shape.
const tidyEvery = 5 * time.Minute

// tidies makes partitions ahead, forgets limits and folds counts, until the store is closed. What
// fails is left for the next time; who needs a partition makes it.
func (s *Store) tidies() {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.running.Done():
			return
		case <-ticker.C:
			_ = s.makeAhead(s.life)
			_ = s.forgetLimits(s.life)
			_ = s.foldCounts(s.life)
		}
	}
}

// Now is the database's clock, or that of Options. It does not follow this machine's when
// that is set.
func (s *Store) Now() time.Time {
	if s.options.Now != nil {
		return s.options.Now().UTC().Truncate(time.Millisecond)
	}
	c := s.clock.Load()
	return c.said.Add(c.at.passed()).UTC().Truncate(time.Millisecond)
}

// View runs fn on a consistent snapshot of the data.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.view(ctx, func(t *tx) error { return fn(t.Tx) })
}

// view runs fn once more if its connection turns out to be dead, as after a restart of
// the database, or if it reads on behind a page that was read alone.
func (s *Store) view(ctx context.Context, fn func(*tx) error) error {
	again, err := s.viewOnce(ctx, fn, true)
	if again {
		_, err = s.viewOnce(ctx, fn, false)
	}
	return err
}

func (s *Store) viewOnce(ctx context.Context, fn func(*tx) error, single bool) (again bool, err error) {
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
	t := newTx(s, ctx, c)
	t.now, t.single = s.Now(), single
	defer s.release(t)
	defer s.EnterView().Store(0)
	err = fn(t)
	return t.err == errNotAlone || t.err != nil && !t.answered && broken(t.err), err
}

// release ends a View's transaction behind the caller's back, who has no more to wait
// for.
func (s *Store) release(t *tx) {
	if t.conn.TxStatus() == 'T' {
		go s.pool.release(t.conn)
	} else {
		s.pool.release(t.conn)
	}
}

// Close waits for pending Updates and closes the connections.
func (s *Store) Close() error {
	s.queue.Close()
	s.stop()
	s.background.Wait()
	err := s.node.leave(context.Background())
	s.closePools()
	if err == errPoolClosed { // it was closed before
		err = nil
	}
	return fault(err)
}

func (s *Store) closePools() {
	s.pool.close()
	s.writing.close()
	s.node.conns.close()
}

// replaced ends the life of a Store whose rows are gone.
func (s *Store) replaced() error {
	err := &Error{Place: s.target.String(), Text: "no longer knows this server: another one was started as " + s.node.name + ", it was not seen for an hour, a newer teamdata upgraded the database meanwhile, its data was carried to another place, or the database was made again",
		Advice: "give each server a name of its own with --node, and start this one again"}
	s.end(err)
	return err
}
