package pgstore

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"teamdata/store/engine"
)

// hints tell other nodes by NOTIFY what they would find when they look, which may be a
// second later. They go out after the commit and may be lost.
type hints struct {
	mu    sync.Mutex
	words map[string]bool
	wake  chan struct{}
}

// The words of hints. All others are numbers of endpoints where something is due.
const (
	hintAccess = "access" // a generation was bumped
	hintNodes  = "nodes"  // a node has come or goes, or has given something up
)

const (
	// sqlHintChannel is the channel of hints: that of a schema, since others have servers too.
	sqlHintChannel = "SELECT 'teamdata_' || oid FROM pg_namespace WHERE nspname = current_schema()"
	maxHint        = 7000 // characters in one; PostgreSQL takes 8000
	// hintEvery is how long hints are gathered.
	hintEvery = 5 * time.Millisecond
	// listenAgain is how long after its connection was lost a node listens again.
	listenAgain = time.Second
	// Whoever may connect to the database can say what it likes, as often as it likes. So it
	// takes a while until a node acts on the next hint: longer if the last one made it write a
	// heartbeat, or look for what is due at many endpoints.
	hintBeat = 20 * time.Millisecond
	hintDue  = 200 * time.Microsecond
)

// say adds words to the next hint.
func (h *hints) say(words ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.words == nil {
		h.words = map[string]bool{}
	}
	for _, word := range words {
		h.words[word] = true
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// take takes the words of one hint.
func (h *hints) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var words []string
	size := 0
	for word := range h.words {
		if size += len(word) + 1; size > maxHint {
			break
		}
		words = append(words, word)
		delete(h.words, word)
	}
	return strings.Join(words, " ")
}

// sayDue tells the owners of endpoints that something is due there.
func (s *Store) sayDue(t *tx) {
	for _, due := range t.Dues {
		if !s.node.has(due.Endpoint) {
			s.hints.say(strconv.FormatUint(due.Endpoint, 10))
		}
	}
}

// sendHints sends what was said, until the store is closed.
func (s *Store) sendHints() {
	for {
		select {
		case <-s.running.Done():
			return
		case <-s.hints.wake:
		}
		for words := s.hints.take(); words != ""; words = s.hints.take() {
			s.sendHint(words)
		}
		<-time.After(hintEvery)
	}
}

// sendHint does not wait for the disk, nor for long: heartbeats need the connection.
func (s *Store) sendHint(words string) {
	ctx, cancel := context.WithTimeout(s.life, lookTime)
	defer cancel()
	_ = s.node.conns.with(ctx, func(ctx context.Context, c *conn) error {
		_, err := c.run(ctx,
			query{sql: "BEGIN"}, query{sql: "SELECT set_config('synchronous_commit', 'off', true)"},
			newQuery("SELECT pg_notify(("+sqlHintChannel+"), $1)", words),
			query{sql: "COMMIT"})
		return err
	})
}

// listen hears the hints of others, until the store is closed. A pooler gives each
// transaction another session, so that nothing can be heard through it.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := s.target.connect(ctx, s.hear)
		if err == nil && c.server.pooled {
			c.Close(ctx)
			return
		}
		if err == nil {
			s.listenOn(ctx, c)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// listenOn listens on a connection until that is lost.
func (s *Store) listenOn(ctx context.Context, c *conn) {
	defer c.Close(context.WithoutCancel(ctx))
	channel, err := c.rows(ctx, newQuery(sqlHintChannel))
	if err == nil && len(channel) > 0 {
		_, err = c.Exec(ctx, "LISTEN "+string(channel[0][0])).ReadAll()
	}
	if err != nil || len(channel) == 0 {
		return
	}
	s.lookSoon()
	s.node.nudge()
	for {
		if err := c.WaitForNotification(ctx); err != nil {
			return
		}
	}
}

// hear keeps those words of a hint that concern this node.
func (s *Store) hear(words string) {
	for word := range strings.FieldsSeq(words) {
		if word == hintAccess || word == hintNodes {
			s.heard.say(word)
		} else if endpoint, err := strconv.ParseUint(word, 10, 64); err == nil && s.node.has(endpoint) {
			s.heard.say(strconv.FormatUint(endpoint, 10))
		}
	}
}

// followHints acts on what was heard, until the store is closed.
func (s *Store) followHints() {
	for {
		select {
		case <-s.running.Done():
			return
		case <-s.heard.wake:
		}
		for words := s.heard.take(); words != "" && s.running.Err() == nil; words = s.heard.take() {
			<-time.After(s.follow(words))
		}
	}
}

// follow acts on a hint, and returns how long the next one is to wait.
func (s *Store) follow(words string) (pause time.Duration) {
	pause = hintEvery
	for word := range strings.FieldsSeq(words) {
		switch word {
		case hintAccess:
			s.lookSoon()
		case hintNodes:
			s.node.nudge()
			pause += hintBeat
		default:
			if endpoint, err := strconv.ParseUint(word, 10, 64); err == nil {
				s.Tell(engine.DueNow(endpoint))
				pause += hintDue
			}
		}
	}
	return pause
}
