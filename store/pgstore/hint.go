package pgstore

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
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
	wake(h.wake)
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

// sayDue tells the owners of endpoints that something is due there, and all nodes of those
// that are pulled: consumers may wait at any.
func (n *node) sayDue(dues []rows.Due) {
	soon := time.Now().Add(n.clock.ClockOffset() + time.Second) // and not of leases, which last longer
	for _, due := range dues {
		if pulled := store.IsPull(due.Endpoint); pulled && !due.At.After(soon) || !pulled && !n.has(due.Endpoint) {
			n.hints.say(strconv.FormatUint(due.Endpoint, 10))
		}
	}
}

// eachHint calls fn with what was said, hint after hint, until the store is closed. fn
// returns how long the next one is to wait.
func (n *node) eachHint(of *hints, fn func(words string) (pause time.Duration)) {
	for {
		select {
		case <-n.running.Done():
			return
		case <-of.wake:
		}
		for words := of.take(); words != ""; words = of.take() {
			select {
			case <-n.running.Done():
			case <-time.After(fn(words)):
			}
		}
	}
}

// sendHints sends what was said, also what a command said just before it ends.
func (n *node) sendHints() {
	n.eachHint(&n.hints, n.sendHint)
	for words := n.hints.take(); words != ""; words = n.hints.take() {
		n.sendHint(words)
	}
}

// sendHint does not wait for the disk, nor for long: heartbeats need the connection.
func (n *node) sendHint(words string) (pause time.Duration) {
	ctx, cancel := context.WithTimeout(n.life, lookTime)
	defer cancel()
	_ = n.conns.run(ctx, query{sql: "SELECT set_config('synchronous_commit', 'off', true)"}, newQuery("SELECT pg_notify(("+sqlHintChannel+"), $1)", words))
	return hintEvery
}

// listen hears the hints of others, until the store is closed. A pooler gives each
// transaction another session, so that nothing can be heard through it.
func (n *node) listen(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := n.conns.target.connect(ctx, n.hear)
		if err == nil && c.server.pooled {
			c.Close(ctx)
			return
		}
		if err == nil {
			n.listenOn(ctx, c)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// listenOn listens on a connection until that is lost.
func (n *node) listenOn(ctx context.Context, c *conn) {
	defer c.Close(context.WithoutCancel(ctx))
	channel, err := c.rows(ctx, newQuery(sqlHintChannel))
	if err == nil && len(channel) > 0 {
		_, err = c.Exec(ctx, "LISTEN "+string(channel[0][0])).ReadAll()
	}
	if err != nil || len(channel) == 0 {
		return
	}
	n.lookSoon()
	n.nudge()
	for {
		if err := c.WaitForNotification(ctx); err != nil {
			return
		}
	}
}

// hear keeps those words of a hint that concern this node.
func (n *node) hear(words string) {
	for word := range strings.FieldsSeq(words) {
		if word == hintAccess || word == hintNodes {
			n.heard.say(word)
		} else if endpoint, err := strconv.ParseUint(word, 10, 64); err == nil && (n.has(endpoint) || store.IsPull(endpoint)) {
			n.heard.say(strconv.FormatUint(endpoint, 10))
		}
	}
}

// follow acts on a hint that was heard.
func (n *node) follow(words string) (pause time.Duration) {
	if n.running.Err() != nil {
		return 0
	}
	pause = hintEvery
	for word := range strings.FieldsSeq(words) {
		switch word {
		case hintAccess:
			n.lookSoon()
		case hintNodes:
			n.nudge()
			pause += hintBeat
		default:
			if endpoint, err := strconv.ParseUint(word, 10, 64); err == nil {
				n.tell(&rows.Changes{Dues: []rows.Due{{Endpoint: endpoint}}})
				pause += hintDue
			}
		}
	}
	return pause
}
