package pgstore

import (
	"context"
	"math"
	"sync"
	"time"

	"teamdata/store/rows"
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

// publish are the statements that publish what a group changed, and read what is to be
// waited for. All generations are locked, so that their sum orders the changes.
func (n *node) publish(changes *rows.Changes, to *published) (queries []query) {
	if !changes.Touched && !changes.Retyped {
		return nil
	}
	queries = append(queries, query{sql: "SELECT FROM generations ORDER BY name FOR UPDATE"})
	if changes.Touched {
		queries = append(queries, bump(accessGeneration))
	}
	if changes.Retyped {
		queries = append(queries, bump(typeGeneration))
	}
	q := newQuery("SELECT (SELECT sum(n)::bigint FROM generations), (SELECT count(*) FROM nodes WHERE id <> $1 AND state <> 'command' AND NOT "+sqlLost("$2")+")", n.id, n.sight.lost())
	q.row = func(values [][]byte) error {
		*to = published{readBigint(values[0]), readBigint(values[1])}
		return nil
	}
	return append(queries, q)
}

func bump(name string) query {
	return newQuery("UPDATE generations SET n = n + 1 WHERE name = $1", name)
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

// awaitSeen waits until all nodes know of a change that was just committed, but not longer
// than they trust what they knew before.
func (n *node) awaitSeen(p published) {
	if p.serving == 0 {
		return
	}
	n.hints.say(hintAccess)
	w, committed := &n.seen, time.Now()
	timeout := time.NewTimer(trustTime)
	defer timeout.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	defer func() { w.waiting-- }()
	for over := false; !over && (w.number < p.number || w.asked.Before(committed)); {
		if !w.asking {
			w.asking, w.changed = true, make(chan struct{})
			go w.ask(n)
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.C:
			over = true
		}
		w.mu.Lock()
	}
}

// ask asks what all know of, as long as somebody waits for more.
func (w *seen) ask(n *node) {
	for asking := true; asking; {
		asked := time.Now()
		number := n.seenByAll()
		w.mu.Lock()
		w.number, w.asked = number, asked
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		<-time.After(seenEvery)
		w.mu.Lock()
		w.asking = w.waiting > 0 && n.life.Err() == nil
		asking = w.asking
		w.mu.Unlock()
	}
}

// seenByAll is the number of the last change that all other nodes know of; 0: that is
// not known.
func (n *node) seenByAll() (number int64) {
	ctx, cancel := context.WithTimeout(n.life, lookTime)
	defer cancel()
	rows, err := n.conns.rows(ctx, newQuery("SELECT coalesce(min(seen), $2) FROM nodes WHERE id <> $1 AND state <> 'command' AND NOT "+sqlLost("$3"), n.id, int64(math.MaxInt64), n.sight.lost()))
	if err == nil {
		number = readBigint(rows[0][0])
	}
	return number
}
