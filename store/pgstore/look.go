package pgstore

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// A node trusts what it keeps in memory for trustTime after it began to look whether it
// has changed.
const (
	trustTime = time.Second
	lookEvery = 400 * time.Millisecond
	lookTime  = 800 * time.Millisecond // for its answers
	// dueEvery is how often a node looks for what others made due, while they commit.
	// They tell, but that may be lost.
	dueEvery = time.Second
)

// known is what a node knows of the changes of all.
type known struct {
	mu          sync.Mutex
	asked       moment            // when the last look that succeeded began
	server      uint64            // when the database's server was started that it looked at
	generations map[string]uint64 // by name
	commits     map[string]uint64 // of other nodes, as of dueAt
	dueAt       time.Time         // when it last looked for what is due
	missed      bool              // it could not look
}

// looks looks again and again, until the store is closed.
func (n *node) looks() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-n.running.Done():
			return
		case <-n.lookNow:
		case <-ticker.C:
		}
		n.endLapsed() // its timer stands still as well while the machine is suspended
		n.look(n.life)
	}
}

func (n *node) lookSoon() { wake(n.lookNow) }

// look reads the generations and how far other nodes have got, and passes on what that
// means. After an error the next one does.
func (n *node) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	asked := rightNow()
	var server, generations, commits, nodes []row
	err := n.conns.with(ctx, func(ctx context.Context, c *conn) error {
		err := c.run(ctx,
			newQuery("SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint").collect(&server),
			newQuery("SELECT name, n FROM generations").collect(&generations),
			newQuery("SELECT node, ("+strings.ReplaceAll(sqlCommitNo, "$1", "w.node")+") FROM writers w WHERE node <> $1", n.id).collect(&commits),
			newQuery("SELECT id, seen_at FROM nodes").collect(&nodes))
		if err != nil {
			return err
		}
		if changes := n.known.note(asked, readUnsigned(server[0][0]), generations); changes.Touched || changes.Retyped {
			n.tell(&changes)
			_ = n.saySeen(ctx, c, generations) // who waits for us doesn't wait for long
		}
		return nil
	})
	if err != nil {
		return
	}
	n.sight.note(asked.at, nodes)
	if n.known.dueAgain(asked.at, commits) {
		n.announce(ctx, shardNames[:])
		n.tell(&rows.Changes{Dues: []rows.Due{{Endpoint: store.FirstPull}}}) // of any that is pulled
	}
}

func numbers(rows []row) map[string]uint64 {
	m := make(map[string]uint64, len(rows))
	for _, r := range rows {
		m[string(r[0])] = readUnsigned(r[1])
	}
	return m
}

// note notes generations that a look found which began at a time, and returns what has
// changed. On another server that may be anything: a standby that lagged knows less, and
// counts up to the same numbers again. Deliveries that it has not heard of are due once more.
func (k *known) note(asked moment, server uint64, generations []row) (changes rows.Changes) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := numbers(generations)
	moved := server != k.server && k.server != 0
	changes.Touched = moved || now[accessGeneration] != k.generations[accessGeneration]
	changes.Retyped = moved || now[typeGeneration] != k.generations[typeGeneration]
	k.asked, k.server, k.generations, k.missed = asked, server, now, k.missed || moved
	return changes
}

// dueAgain reports whether others committed something since it said so last, or what is
// due was missed.
func (k *known) dueAgain(asked time.Time, commits []row) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := numbers(commits)
	if !k.missed && (asked.Sub(k.dueAt) < dueEvery || maps.Equal(now, k.commits)) {
		return false
	}
	k.dueAt, k.commits, k.missed = asked, now, false
	return true
}

// miss makes the next look look for what is due.
func (k *known) miss() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missed = true
}

// trusted reports whether the last look is recent enough.
func (k *known) trusted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked.atMost() < trustTime
}

// trusts reports whether the node may go by what it keeps in memory.
func (n *node) trusts() bool { return n.options.Sole || n.known.trusted() }

// saySeen tells those who wait for it that the node knows of generations, on the server
// where it found them.
func (n *node) saySeen(ctx context.Context, c *conn, generations []row) error {
	sum := 0
	for _, r := range generations {
		sum += int(readBigint(r[1]))
	}
	return c.run(ctx, newQuery("UPDATE nodes SET seen = $2 WHERE id = $1", n.id, sum))
}
