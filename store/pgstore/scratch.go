package pgstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Scratch is a schema of its own in a database, in which teamdata is measured beside
// what the database does for any program. Nothing outside of it is touched.
type Scratch struct {
	target *Target // in the schema
	whole  *Target // the database as it was given
	pool   *pool
	next   atomic.Int64
}

const (
	scratchWork = 10_000 // rows that Outcomes finds due in turns
	scratchOrgs = 1024   // that Accept knows, by their numbers
	claimSize   = 32
	// scratchRecord is about as long as the record of a delivery that was attempted.
	scratchRecord = 200
)

// scratchTables are those of the baselines, beside the tables of teamdata.
const scratchTables = `CREATE TABLE bench_orgs (id bigint PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE bench_rows (id bigint PRIMARY KEY, record bytea NOT NULL);
CREATE TABLE bench_work (id bigint PRIMARY KEY, due bigint NOT NULL, record bytea NOT NULL) WITH (fillfactor = 80);
CREATE INDEX bench_due ON bench_work (due);
INSERT INTO bench_orgs SELECT i, 0 FROM generate_series(0, %d) i;
INSERT INTO bench_work SELECT i, 0, decode(repeat('00', %d), 'hex') FROM generate_series(1, %d) i`

// NewScratch makes a schema with the tables of teamdata and of the baselines. Its
// errors are one line for the operator. All answers of the database take away longer
// than they do, as if it were on another machine. Drop removes it again.
func NewScratch(ctx context.Context, target *Target, connections int, away time.Duration) (*Scratch, error) {
	in := *target
	in.away = away
	in.schema = "teamdata_bench_" + strings.ToLower(rand.Text())
	s := &Scratch{target: &in, whole: target, pool: newPool(&in, connections)}
	whole := newPool(target, 1)
	defer whole.close()
	if err := whole.with(ctx, func(ctx context.Context, c *conn) error {
		if c.server.pooled { // which gives the next transaction a session with another schema
			return &Error{Place: target.String(), Text: "is reached by a pooler, and bench needs sessions of its own", Advice: "give the address of the server itself"}
		}
		_, err := c.run(ctx, query{sql: "CREATE SCHEMA " + in.schema})
		return target.refusal(err)
	}); err != nil {
		return nil, err
	}
	if err := s.fill(ctx); err != nil {
		s.Drop(context.WithoutCancel(ctx))
		return nil, err
	}
	return s, nil
}

func (s *Scratch) fill(ctx context.Context) error {
	rows, err := s.pool.rows(ctx, newQuery("SELECT current_schema()"))
	if err == nil && string(rows[0][0]) != s.target.schema {
		err = fmt.Errorf("the schema is %s", rows[0][0])
	}
	if err == nil {
		err = s.pool.prepare(ctx, migrations, upgrading)
	}
	if err == nil {
		err = s.pool.with(ctx, func(ctx context.Context, c *conn) error {
			_, err := c.Exec(ctx, fmt.Sprintf(scratchTables, scratchOrgs-1, scratchRecord, scratchWork)).ReadAll()
			return err
		})
	}
	return s.target.refusal(err)
}

// Drop removes the schema with all that is in it. The engines on it are closed before.
func (s *Scratch) Drop(ctx context.Context) error {
	s.pool.close()
	p := newPool(s.whole, 1)
	defer p.close()
	err := p.run(ctx, query{sql: sqlBegin}, query{sql: sqlLongLimits}, query{sql: "DROP SCHEMA " + s.target.schema + " CASCADE"}, query{sql: "COMMIT"})
	if err != nil {
		return &Error{Place: s.whole.String(), Text: "has a schema left that bench made", Advice: "remove it with: DROP SCHEMA " + s.target.schema + " CASCADE", Err: err}
	}
	return nil
}

// Open opens an engine on the schema, as a server with that name does.
func (s *Scratch) Open(ctx context.Context, node string) (store.Engine, error) {
	return Open(ctx, s.target, Options{Node: node})
}

// RoundTrip asks for nothing.
func (s *Scratch) RoundTrip(ctx context.Context) error {
	return s.pool.run(ctx, query{sql: "SELECT 1"})
}

// Insert is the least that keeps something: one row, in a transaction of its own.
func (s *Scratch) Insert(ctx context.Context) error { return s.pool.run(ctx, s.insert()) }

func (s *Scratch) insert() query {
	return query{sql: "INSERT INTO bench_rows VALUES ($1, $2)", formats: binaryFormat, values: [][]byte{bigint(s.next.Add(1)), make([]byte, scratchRecord)}}
}

// Accept is what a request takes that has a transaction for itself, and does one thing
// after the other: it looks for its idempotency key and for an endpoint, locks the row
// of one of 1,024 orgs, and inserts an audit entry, an event, a delivery and the answer.
func (s *Scratch) Accept(ctx context.Context, org int) error {
	return s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		for _, q := range []query{
			{sql: sqlBegin},
			newQuery("SELECT record FROM bench_rows WHERE id = $1", 0), newQuery("SELECT n FROM bench_orgs WHERE id = $1", org%scratchOrgs),
			newQuery("UPDATE bench_orgs SET n = n + 1 WHERE id = $1", org%scratchOrgs),
			s.insert(), s.insert(), s.insert(), s.insert(),
			{sql: "COMMIT"},
		} {
			if _, err := c.run(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
}

// Outcomes claims up to 32 rows that are due, which no one else has locked, and writes
// their outcomes: what a queue in a table usually does. It returns how many.
// It writes them all at once, or each as its attempt ends, in a transaction of its own.
func (s *Scratch) Outcomes(ctx context.Context, atOnce bool) (n int, err error) {
	err = s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		rows, err := c.rows(ctx, newQuery(`UPDATE bench_work SET due = due + 1000000000000 WHERE id IN
			(SELECT id FROM bench_work WHERE due < 1000000000000 ORDER BY due LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id, record`, claimSize))
		if err != nil || len(rows) == 0 {
			return err
		}
		n = len(rows)
		step := 1
		if atOnce {
			step = n
		}
		for some := range slices.Chunk(rows, step) {
			ids := array(numberKind, len(some), func(i int) []byte { return some[i][0] })
			if _, err := c.run(ctx, query{sql: "UPDATE bench_work SET due = $2, record = $3 WHERE id = ANY($1)", formats: binaryFormat,
				values: [][]byte{ids, bigint(s.next.Add(1)), make([]byte, scratchRecord)}}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
