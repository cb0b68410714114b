package pgstore

import (
	"context"
	"math"
	"sync"
	"time"

	"teamdata/store"
)

// The names of generations.
const (
	accessGeneration = "access"
	typeGeneration   = "eventTypes"
)

// published is the number of the last change to what nodes keep in memory, and whether
// nodes beside this one are to see it.
type published struct {
	number  int64 // sum of the generations
	serving int64
}

// bumps are the statements that publish what a group changed. All generations are
// locked, so that their sum orders the changes.
func (t *tx) bumps() (queries []query) {
	if !t.Touched && !t.Retyped {
		return nil
	}
	queries = append(queries, query{sql: "SELECT FROM generations ORDER BY name FOR UPDATE"})
	if t.Touched {
		queries = append(queries, bump(accessGeneration))
	}
	if t.Retyped {
		queries = append(queries, bump(typeGeneration))
	}
	q := newQuery("SELECT (SELECT sum(n)::bigint FROM generations), (SELECT count(*) FROM nodes WHERE id <> $1 AND state <> 'command' AND NOT "+sqlLost("$2")+")", t.s.node.id, t.s.node.sight.lost())
	q.row = func(values [][]byte) error {
		t.published = published{readBigint(values[0]), readBigint(values[1])}
		return nil
	}
	return append(queries, q)
}

func bump(name string) query {
	return newQuery("UPDATE generations SET n = n + 1 WHERE name = $1", name)
}

// Update hands fn to the writer and waits until its commit is on disk. If it touched
// what nodes keep in memory, it waits until they all know, or have stopped to trust
// that: none lets in whom the Update shut out.
func (s *Store) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	var group *tx // if the last run of fn touched something
	err := s.queue.Update(ctx, scope, func(t store.Tx) (err error) {
		run := t.(*tx)
		earlier := run.Changes
		run.Touched, run.Retyped = false, false
		if err = fn(t); run.Touched || run.Retyped {
			group = run
		} else {
			group = nil
		}
		run.Touched, run.Retyped = run.Touched || earlier.Touched, run.Retyped || earlier.Retyped
		return err
	})
	if err == nil && group != nil && group.published.serving > 0 {
		s.hints.say(hintAccess)
		s.seen.wait(s, group.published.number)
	}
	return err
}

// seen is how far the other nodes know of changes. An answer counts only for changes that
// were committed before it was asked for: after a failover to a standby that lagged,
// numbers come again.
type seen struct {
	mu      sync.Mutex
	number  int64         // of the last change that all knew of
	asked   time.Time     // when that was asked
	waiting int           // how many wait for more
	asking  bool          // by one goroutine for all
	changed chan struct{} // closed when there is another answer
}

// seenEvery is how often it is asked.
const seenEvery = 5 * time.Millisecond

// wait waits until all nodes know of a change that was just committed, but not longer
// than they trust what they knew before.
func (n *seen) wait(s *Store, number int64) {
	committed := time.Now()
	timeout := time.NewTimer(trustTime)
	defer timeout.Stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting++
	defer func() { n.waiting-- }()
	for over := false; !over && (n.number < number || n.asked.Before(committed)); {
		if !n.asking {
			n.asking, n.changed = true, make(chan struct{})
			go n.ask(s)
		}
		changed := n.changed
		n.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.C:
			over = true
		}
		n.mu.Lock()
	}
}

// ask asks what all know of, as long as somebody waits for more.
func (n *seen) ask(s *Store) {
	for asking := true; asking; {
		asked := time.Now()
		number := s.seenByAll()
		n.mu.Lock()
		n.number, n.asked = number, asked
		close(n.changed)
		n.changed = make(chan struct{})
		n.mu.Unlock()
		<-time.After(seenEvery)
		n.mu.Lock()
		n.asking = n.waiting > 0 && s.life.Err() == nil
		asking = n.asking
		n.mu.Unlock()
	}
}

// seenByAll is the number of the last change that all other nodes know of; 0: that is
// not known.
func (s *Store) seenByAll() (number int64) {
	ctx, cancel := context.WithTimeout(s.life, lookTime)
	defer cancel()
	_ = s.node.conns.with(ctx, func(ctx context.Context, c *conn) error {
		rows, err := c.rows(ctx, newQuery("SELECT coalesce(min(seen), $2) FROM nodes WHERE id <> $1 AND state <> 'command' AND NOT "+sqlLost("$3"), s.node.id, int64(math.MaxInt64), s.node.sight.lost()))
		if err == nil {
			number = readBigint(rows[0][0])
		}
		return err
	})
	return number
}
