package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/store"
)

// Probe makes an empty commit, through the writer and to disk like any other, if there is
// room for more. Its errors are those of an Update.
func (s *Store) Probe(ctx context.Context) error {
	return s.Probing(func() error {
		if err := s.pool.room(ctx); err != nil {
			return fault(err)
		}
		return s.Update(ctx, store.Scope{}, func(t store.Tx) error {
			ownTx(t).over.probed = true
			return nil
		})
	})
}

// room finds out whether a table could grow: an empty commit writes over what is there, and
// so succeeds on a full disk. A statement keeps data beyond work_mem in a temporary file
// on the disk of the tables.
func (p *pool) room(ctx context.Context) error {
	return p.run(ctx,
		query{sql: "SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)"},
		query{sql: "SELECT count(*) FROM unnest(array_fill(repeat('x', 8000), ARRAY[128]))"}) // 1 MB
}

// Committed records a commit. A failure tells of the next one, unless it is a bug's or
// another transaction's, or the connection was lost, which a probe finds out about.
func (s *Store) Committed(c store.Commit) {
	s.Watch.Committed(c)
	if server, ok := errors.AsType[*pgconn.PgError](c.Err); ok && !isBug(server.Code) && !retryable(c.Err) && !broken(c.Err) {
		s.Refused(c)
	}
}

// statsTime is how long the database may take to say how large it is.
const statsTime = 2 * time.Second

// Stats asks the database for its size alone.
func (s *Store) Stats() (st store.Stats, err error) {
	st.Reads, st.OldestRead = s.OpenViews()
	st.Database = &store.Database{
		Connections: len(s.pool.tokens) + len(s.writing.tokens) + len(s.node.conns.tokens), MaxConnections: cap(s.pool.tokens) + cap(s.writing.tokens) + cap(s.node.conns.tokens),
		Waiting:     int(s.pool.waiting.Load() + s.writing.waiting.Load()),
		ClockOffset: s.ClockOffset(), Retries: s.retries.Load(), Doubts: s.doubts.all(),
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
	about := store.About{Place: s.target.String(), Sealed: s.seal.On(), Now: s.Now()}
	r, err := s.ask(s.life, `SELECT pg_database_size(current_database()), (SELECT schema::bigint FROM meta),
		`+newestPosition+", "+newestIDs)
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

// newestPosition is the newest time in the positions of all lists, as
// [store.Tx.NewestPosition] finds it for each org.
const newestPosition = `(SELECT max(('x' || encode(substring(l.last FROM octet_length(o.key) + 2 FOR 8), 'hex'))::bit(64)::bigint)
	FROM orgs o, LATERAL (
		(SELECT member_list AS last FROM members WHERE member_list >= o.key || '\x00' AND member_list < o.key || '\x01' ORDER BY member_list DESC LIMIT 1)
		UNION ALL (SELECT key FROM audit_log WHERE key >= o.key || '\x00' AND key < o.key || '\x01' ORDER BY key DESC LIMIT 1)
		UNION ALL SELECT value FROM last_removed WHERE key = o.key) l)`

// newestIDs are the last ids of those that rise.
const newestIDs = "(SELECT convert_from(key, 'UTF8') FROM events ORDER BY key DESC LIMIT 1), (SELECT convert_from(key, 'UTF8') FROM deliveries ORDER BY key DESC LIMIT 1), (SELECT convert_from(key, 'UTF8') FROM mails ORDER BY key DESC LIMIT 1)"

// ask reads one row.
func (s *Store) ask(ctx context.Context, sql string) (found row, err error) {
	rows, err := s.pool.rows(ctx, newQuery(sql))
	if err != nil {
		return nil, fault(err)
	}
	return rows[0], nil
}
