package pgstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// OnCommit sets fn to be called by the writer after each commit. fn must not
// block. It is set once, before the first Update that it needs to see.
func (s *Store) OnCommit(fn func(store.Commit)) { s.watch.onCommit.Store(&fn) }

// LastCommit returns when the last commit succeeded, by the system's clock; zero:
// none since Open, or the last one failed.
func (s *Store) LastCommit() time.Time {
	if ns := s.watch.committed.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Probe makes an empty commit, through the writer and to disk like any other. Its
// errors are those of an Update.
func (s *Store) Probe(ctx context.Context) error {
	return s.Update(ctx, store.Scope{}, func(t store.Tx) error {
		t.(*tx).over.probed = true
		return nil
	})
}

// watch is the monitoring data of a Store.
type watch struct {
	onCommit  atomic.Pointer[func(store.Commit)]
	committed atomic.Int64 // unix nanoseconds of the last commit; 0: none, or it failed
	retries   atomic.Uint64
	doubts    atomic.Uint64

	mu    sync.Mutex
	views map[*tx]time.Time // the open ones, by when they began
}

// notify records when a commit ended and calls OnCommit's function.
func (w *watch) notify(c store.Commit) {
	if w.committed.Store(time.Now().UnixNano()); c.Err != nil {
		w.committed.Store(0)
	}
	if fn := w.onCommit.Load(); fn != nil {
		(*fn)(c)
	}
}

func (w *watch) enter(view *tx) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.views == nil {
		w.views = map[*tx]time.Time{}
	}
	w.views[view] = time.Now()
}

func (w *watch) leave(view *tx) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, view)
}

func (w *watch) open() (n int, oldest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, began := range w.views {
		oldest = max(oldest, time.Since(began))
	}
	return len(w.views), oldest
}

// statsTime is how long the database may take to say how large it is.
const statsTime = 2 * time.Second

// Stats asks the database for its size alone.
func (s *Store) Stats() (st store.Stats, err error) {
	st.Reads, st.OldestRead = s.watch.open()
	st.Database = &store.Database{
		Connections: len(s.pool.tokens) + len(s.writing.tokens), MaxConnections: cap(s.pool.tokens) + cap(s.writing.tokens),
		Waiting:     int(s.pool.waiting.Load() + s.writing.waiting.Load()),
		ClockOffset: time.Duration(s.offset.Load()), Retries: s.watch.retries.Load(), Doubts: s.watch.doubts.Load(),
	}
	ctx, cancel := context.WithTimeout(s.life, statsTime)
	defer cancel()
	size, err := s.ask(ctx, "SELECT pg_database_size(current_database())")
	if err == nil {
		st.Size = readBigint(size[0])
	}
	return st, err
}

// About returns a description of the open database.
func (s *Store) About() (store.About, error) {
	about := store.About{Place: s.target.String(), Sealed: s.seal.On(), Now: s.now()}
	r, err := s.ask(s.life, `SELECT pg_database_size(current_database()), (SELECT schema::bigint FROM meta),
		(SELECT max(greatest(members_at, audit_at)) FROM org_lists), `+newestIDs)
	if err != nil {
		return about, err
	}
	about.Size, about.Schema = readBigint(r[0]), int(readBigint(r[1]))
	newest := readUnsigned(r[2])
	for _, id := range r[3:] {
		ms, _ := store.IDTime(string(id))
		newest = max(newest, ms)
	}
	if newest > 0 {
		about.Newest = time.UnixMilli(int64(newest)).UTC()
	}
	return about, nil
}

// newestIDs are the last ids of those that rise.
const newestIDs = "(SELECT max(id) FROM events), (SELECT max(id) FROM deliveries), (SELECT max(id) FROM mails)"

// ask reads one row.
func (s *Store) ask(ctx context.Context, sql string) (found row, err error) {
	err = s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		rows, err := c.rows(ctx, newQuery(sql))
		if err == nil {
			found = rows[0]
		}
		return err
	})
	return found, fault(err)
}
