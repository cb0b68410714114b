package pgstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/store"
)

// limiter is a limit that nodes count together. Those who take meanwhile are counted
// by the next statement, so that none of them costs a statement of its own, and a
// statement waits for no disk: the table is unlogged. After a crash of the database it
// is empty, and each id starts anew. While the database is away, nothing is accepted.
type limiter struct {
	s *Store
	store.Limit
}

// Limiter returns the limiter of a limit. A number of milliseconds is exact, and all
// times are those of the database.
func (s *Store) Limiter(l store.Limit) store.Limiter { return limiter{s, l} }

// limits are those who take, while others are counted.
type limits struct {
	mu       sync.Mutex
	waiting  []*take
	counting bool  // by a goroutine, which ends once nobody waits
	latest   int64 // time of a take; whoever counts has it
}

type take struct {
	limit    store.Limit
	id       string
	at       time.Time
	decision ratelimit.Decision
	err      error
	done     chan struct{}
}

func (l limiter) Take(ctx context.Context, id string, now time.Time) (ratelimit.Decision, error) {
	if l.Max <= 0 {
		return ratelimit.Decision{OK: true}, nil
	}
	t := &take{limit: l.Limit, id: id, at: now, done: make(chan struct{})}
	l.s.limits.push(l.s, t)
	select {
	case <-t.done:
		return t.decision, t.err
	case <-ctx.Done():
		return ratelimit.Decision{}, fault(context.Cause(ctx))
	}
}

func (l *limits) push(s *Store, t *take) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = append(l.waiting, t); !l.counting {
		l.counting = true
		go l.count(s)
	}
}

// maxTakes is how many are counted at once, which bounds a statement.
const maxTakes = 4096

// count counts those who wait, group after group.
func (l *limits) count(s *Store) {
	for {
		l.mu.Lock()
		n := min(len(l.waiting), maxTakes)
		if n == 0 {
			l.waiting, l.counting = nil, false
			l.mu.Unlock()
			return
		}
		group := slices.Clone(l.waiting[:n])
		l.waiting = append(l.waiting[:0], l.waiting[n:]...)
		l.mu.Unlock()
		err := s.takeAll(group)
		for _, t := range group {
			t.err = fault(err)
			close(t.done)
		}
	}
}

// sqlTake adds to each id as many times as it may take. A row has the times that were
// accepted, in order; those that have left the window are cut off. Where the clock was
// set back, time stands still: no take is before one that the node or the row has seen. All nodes lock rows in the same order. The row of an id that
// may not take is locked and not written: all versions of a row stay while anybody has a
// snapshot, and those who are refused may come far more often than they may take. Their
// answer is read as of before the statement, so requests that another node took meanwhile
// may be missing: then the oldest time is the one that this node has, or now.
const sqlTake = `WITH w AS MATERIALIZED (
	SELECT name, id, most, span, n, greatest($7::bigint, CASE WHEN given > 0 THEN given ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END) AS at
	FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS w (name, id, most, span, given, n)),
took AS (INSERT INTO limits AS l (name, id, most, span, at, accepted, times)
	SELECT name, id, most, span, at, least(n, most), array_fill(at, ARRAY[least(n, most)::int]) FROM w ORDER BY name, id
	ON CONFLICT (name, id) DO UPDATE SET (most, span, at, accepted, times) = (
		SELECT excluded.most, excluded.span, c.at, a.n, k.times || array_fill(c.at, ARRAY[a.n::int])
		FROM (SELECT greatest(l.at, excluded.at) AS at) c,
		LATERAL (SELECT l.times[width_bucket(c.at - excluded.span, l.times) + 1:] AS times) k,
		LATERAL (SELECT least(excluded.accepted, excluded.most - cardinality(k.times)) AS n) a)
	WHERE cardinality(l.times) - width_bucket(greatest(l.at, excluded.at) - excluded.span, l.times) < excluded.most
	RETURNING name, id, at, accepted, cardinality(times)::bigint AS n, times[1] AS oldest)
SELECT name, id, at, accepted, n, oldest FROM took
UNION ALL
SELECT w.name, w.id, c.at, 0, w.most, coalesce(l.times[width_bucket(c.at - w.span, l.times) + 1], c.at)
FROM w LEFT JOIN limits l ON (l.name, l.id) = (w.name, w.id), LATERAL (SELECT greatest(l.at, w.at) AS at) c
WHERE (w.name, w.id) NOT IN (SELECT name, id FROM took)`

// taker is an id of a limit.
type taker struct{ limit, id string }

// takeAll counts a group. A connection that turns out to be dead is replaced once;
// what it may have counted counts twice then.
func (s *Store) takeAll(group []*take) error {
	takers := map[taker][]*take{}
	for _, t := range group {
		of := taker{t.limit.Name, t.id}
		takers[of] = append(takers[of], t)
	}
	ctx, cancel := context.WithTimeout(s.life, answerTime)
	defer cancel()
	rows, err := s.pool.rows(ctx, s.takeQuery(takers))
	if broken(err) || retryable(err) {
		rows, err = s.pool.rows(ctx, s.takeQuery(takers))
	}
	if tableGone(err) {
		err = s.replaced()
	}
	for _, r := range rows {
		at := readBigint(r[2])
		s.limits.latest = max(s.limits.latest, at)
		if err == nil {
			decide(takers[taker{string(r[0]), string(r[1])}], at, int(readBigint(r[3])), int(readBigint(r[4])), readBigint(r[5]))
		}
	}
	return err
}

// takerColumns are the parameters of sqlTake of which each taker has one.
var takerColumns = []column{text("name"), blob("id"), number("most"), number("span"), number("given"), number("n")}

func (s *Store) takeQuery(takers map[taker][]*take) query {
	var all []row
	for of, takes := range takers {
		at := int64(0) // by the database's clock
		for _, t := range takes {
			if s.options.Now != nil {
				at = max(at, t.at.UnixMilli())
			}
		}
		limit := takes[0].limit
		all = append(all, row{[]byte(of.limit), []byte(of.id), bigint(int64(limit.Max)), bigint(limit.Window.Milliseconds()), bigint(at), bigint(int64(len(takes)))})
	}
	q := columnwise(sqlTake, takerColumns, all)
	q.values = append(q.values, bigint(s.limits.latest))
	return q
}

// decide tells the first of those who take from one id that they are accepted. n times are
// in the window at `at`, theirs among them.
func decide(takes []*take, at int64, accepted, n int, oldest int64) {
	for i, t := range takes {
		behind := max(accepted-i-1, 0) // accepted after it
		reset := t.limit.Window - time.Duration(at-oldest)*time.Millisecond
		t.decision = ratelimit.Decision{OK: i < accepted, Limit: t.limit.Max, Remaining: max(t.limit.Max-n+behind, 0), Reset: reset}
		if t.decision.Remaining == 0 {
			t.decision.RetryAfter = reset
		}
	}
}

// forgetLimits deletes ids without a time in the window of their limit.
func (s *Store) forgetLimits(ctx context.Context) error {
	return s.pool.run(ctx, newQuery(sqlForget))
}

// sqlForget waits for nobody, so that it never waits for one who waits for it.
const sqlForget = `DELETE FROM limits WHERE (name, id) IN (SELECT name, id FROM limits
	WHERE at + span < (extract(epoch FROM clock_timestamp()) * 1000)::bigint FOR UPDATE SKIP LOCKED)`
