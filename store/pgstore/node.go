package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"teamdata/store"
)

// A node has what it took for leaseTime after its last heartbeat: for the others by the
// database's clock, for itself by its own monotonic one, since before it asked.
const (
	leaseTime = 6 * time.Second
	beatEvery = 2 * time.Second
	beatTime  = 1500 * time.Millisecond // for its answers
	// startMargin is how long before the end of a lease its last attempt starts.
	startMargin = time.Second
	// forgetAfter is how long a node that is no longer seen is kept.
	forgetAfter = time.Hour
)

// nodeCommand is the state of one that sends nothing, and that nobody asks anything.
const nodeCommand = "command"

// coordinating is how many connections heartbeats, looks and hints share.
const coordinating = 2

// node is this process among those that use the database.
type node struct {
	id, name, version string
	schema            int           // the last migration that the program knows
	conns             *pool         // of its own, so that no reader and no commit delays a heartbeat
	nudged            chan struct{} // has one token when a heartbeat is due at once
	turn              sync.Mutex    // of who takes leases and gives them up

	mu       sync.Mutex
	state    string
	asked    time.Time            // when its last heartbeat was asked for
	others   int                  // nodes that serve beside it
	held     map[string]uint64    // the tokens of its leases, by name
	leaving  map[string]time.Time // shards that it is to give up, and by when
	inFlight map[string]int       // claims of each shard, and calls that make some
	claims   map[string]claim     // of deliveries, by id
	claimed  map[uint64]int       // how many of these each endpoint has
	jobs     map[string]*job
	lease    time.Duration // how long it has what it took
	lapsing  *time.Timer   // ends the jobs when the node stops to rely on what it has
	stopping sync.Once
	stopped  chan struct{} // closed once it stops and has no shard any more
}

// claim is a claimed delivery.
type claim struct {
	endpoint uint64
	row      row
	version  []byte // of the row: the transaction that wrote it
}

func newNode(target *Target, o Options) *node {
	n := &node{
		id: new(store.IDSource).Next("nod_", time.Now()), name: o.Node, version: o.Version, state: store.NodeRunning,
		conns: newPool(target, coordinating), nudged: make(chan struct{}, 1), stopped: make(chan struct{}),
		held: map[string]uint64{}, leaving: map[string]time.Time{}, inFlight: map[string]int{}, claims: map[string]claim{}, claimed: map[uint64]int{}, jobs: map[string]*job{},
	}
	if n.lease = leaseTime; o.Sole {
		n.lease = math.MaxInt64 / 2
	}
	n.lapsing = time.AfterFunc(n.lease, n.endLapsed)
	if n.name == "" {
		n.name, n.state = n.id, nodeCommand
	}
	return n
}

// RandomName is a name for a node that was given none: that of its host, and a random
// part.
func RandomName() string {
	host, _ := os.Hostname()
	if host, _, _ = strings.Cut(host, "."); len(host) > 50 || !store.ValidID(host) {
		host = "node"
	}
	return host + "-" + strings.ToLower(rand.Text()[:6])
}

// sqlNow is the database's time at the start of a transaction, and sqlAlive whether the
// node of a row still has its leases then.
const sqlNow = "(extract(epoch FROM now()) * 1000)::bigint"

var sqlAlive = fmt.Sprintf("seen_at > %s - %d", sqlNow, leaseTime.Milliseconds())

// register makes the node's rows, instead of those of an earlier one with its name: that
// was killed, or finds out by its next commit or heartbeat. It reports whether the tables
// are still those that the program may write: the lock on meta is for one who upgrades
// them. The other one is for those who count the nodes that have to see what they changed.
func (n *node) register(ctx context.Context, c *conn) (current bool, err error) {
	var made []row
	_, err = c.run(ctx,
		query{sql: sqlBegin}, query{sql: sqlLimits}, query{sql: "SELECT FROM meta FOR SHARE"},
		query{sql: "SELECT FROM generations ORDER BY name FOR UPDATE"},
		newQuery("DELETE FROM commits WHERE node IN (SELECT id FROM nodes WHERE name = $1)", n.name),
		newQuery("DELETE FROM nodes WHERE name = $1", n.name),
		query{sql: "DELETE FROM leases WHERE name LIKE 'job %' AND node NOT IN (SELECT id FROM nodes)"}, // of those that were killed
		query{sql: "DELETE FROM shared_key WHERE NOT EXISTS (SELECT FROM nodes WHERE " + sqlAlive + ")"},
		newQuery("INSERT INTO nodes (id, name, version, schema, state, started_at, seen_at) SELECT $1::text, $2::text, $3::text, $4::bigint, $5::text, "+sqlNow+", "+sqlNow+" FROM meta WHERE may_write <= $4::bigint RETURNING 1::bigint",
			n.id, n.name, n.version, n.schema, n.state).collect(&made),
		newQuery("INSERT INTO commits (node, n) SELECT id, 0 FROM nodes WHERE id = $1", n.id),
		query{sql: "COMMIT"})
	return len(made) > 0, err
}

// leave deletes the node's rows, so that nobody waits for it.
func (n *node) leave(ctx context.Context) error {
	n.lapsing.Stop()
	return n.conns.with(ctx, func(ctx context.Context, c *conn) error {
		_, err := c.run(ctx,
			query{sql: sqlBegin}, query{sql: sqlLimits},
			newQuery("DELETE FROM commits WHERE node = $1", n.id),
			newQuery("DELETE FROM nodes WHERE id = $1", n.id),
			query{sql: "COMMIT"})
		return err
	})
}

// nudge makes the next heartbeat come at once.
func (n *node) nudge() {
	select {
	case n.nudged <- struct{}{}:
	default:
	}
}

// beats keeps the node among those that are seen, until the store is closed.
func (s *Store) beats() {
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.node.nudged:
		case <-timer.C:
		}
		again, err := s.beat()
		if err == errReplaced {
			_ = s.replaced()
			return
		}
		timer.Reset(again)
	}
}

// beat says that the node is there, takes and gives up what it should, and announces
// what is due in what is new to it. It returns when the next one is due at the latest.
func (s *Store) beat() (again time.Duration, err error) {
	n := s.node
	n.turn.Lock()
	defer n.turn.Unlock()
	ctx, cancel := context.WithTimeout(s.life, beatTime)
	defer cancel()
	asked := time.Now()
	seen, err := n.say(ctx, s.ClockOffset())
	if err != nil {
		return beatTime / 3, err
	}
	s.setTime(seen.now)
	lapsed := n.confirm(asked, &seen)
	gained, err := n.take(ctx, n.shareOut(&seen))
	if given := n.toGiveUp(); err == nil && len(given) > 0 {
		if err = n.giveUp(ctx, given); err == nil {
			s.hints.say(hintNodes)
		}
	}
	n.checkStopped()
	if lapsed {
		gained = shardNames[:]
	}
	if len(gained) > 0 {
		s.announce(ctx, gained)
	}
	if again = n.next(&seen); err != nil {
		again = min(again, beatTime/3)
	}
	return again, err
}

// census is what a heartbeat reads.
type census struct {
	now    time.Time
	nodes  []row // id, state, seen_at
	leases []row // name, node, token
}

var errReplaced = errors.New("the database no longer knows this node")

// say writes the heartbeat and reads who else is there, and who has what.
func (n *node) say(ctx context.Context, offset time.Duration) (seen census, err error) {
	n.mu.Lock()
	state := n.state
	n.mu.Unlock()
	var self, clock []row
	err = n.conns.with(ctx, func(ctx context.Context, c *conn) error {
		_, err := c.run(ctx,
			query{sql: sqlBegin}, query{sql: sqlShortLimits},
			newQuery("UPDATE nodes SET seen_at = "+sqlNow+", state = $2, clock_offset = $3 WHERE id = $1 RETURNING 1::bigint",
				n.id, state, int(offset.Milliseconds())).collect(&self),
			newQuery("DELETE FROM nodes WHERE seen_at < "+sqlNow+" - $1", int(forgetAfter.Milliseconds())),
			query{sql: "DELETE FROM commits WHERE node NOT IN (SELECT id FROM nodes)"},
			newQuery(sqlClock).collect(&clock),
			newQuery("SELECT id, state, seen_at FROM nodes").collect(&seen.nodes),
			newQuery("SELECT name, node, token FROM leases").collect(&seen.leases),
			query{sql: "COMMIT"})
		return err
	})
	switch {
	case err != nil:
		return seen, err
	case len(self) == 0:
		return seen, errReplaced
	}
	seen.now = readTime(clock[0][0])
	return seen, nil
}

// left is how long the node of a row keeps its leases.
func (seen *census) left(r row) time.Duration { return readTime(r[2]).Add(leaseTime).Sub(seen.now) }

// sharing are the nodes that share the endpoints out among them.
func (seen *census) sharing() (ids []string) {
	for _, r := range seen.nodes {
		if string(r[1]) == store.NodeRunning && seen.left(r) > 0 {
			ids = append(ids, string(r[0]))
		}
	}
	return ids
}

// confirm notes what the node has, by a heartbeat that was asked for at a time. That may
// be more than it knows of: a lease whose taking was not answered. lapsed: it did not have
// all of it for a while, in which it let work lie.
func (n *node) confirm(asked time.Time, seen *census) (lapsed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lapsed = !asked.Before(n.lapses())
	n.asked, n.others = asked, 0
	n.lapsing.Reset(time.Until(n.lapses()))
	for _, r := range seen.nodes {
		if string(r[0]) != n.id && string(r[1]) != nodeCommand && seen.left(r) > 0 {
			n.others++
		}
	}
	mine := map[string]uint64{}
	for _, r := range seen.leases {
		if string(r[1]) == n.id {
			mine[string(r[0])] = readUnsigned(r[2])
		}
	}
	for name, token := range n.held {
		if mine[name] != token {
			n.lose(name)
		}
	}
	for name, token := range mine {
		if n.held[name] == 0 {
			n.held[name], lapsed = token, true
		}
	}
	return lapsed
}

// lapses is when the node stops to rely on what it has, unless it is seen again.
func (n *node) lapses() time.Time { return n.asked.Add(n.lease - startMargin) }

// lose forgets a lease, and ends the job under it.
func (n *node) lose(name string) {
	delete(n.held, name)
	delete(n.leaving, name)
	if j := n.jobs[name]; j != nil {
		j.end()
	}
}

// endLapsed ends the jobs under leases that the node can't rely on any more.
func (n *node) endLapsed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Now().Before(n.lapses()) {
		return
	}
	for _, j := range n.jobs {
		j.end()
	}
}

// next is when the next heartbeat is due: as soon as a node that is not seen again loses
// what it has, or a shard that was to be given up is.
func (n *node) next(seen *census) time.Duration {
	next := beatEvery
	for _, r := range seen.nodes {
		if left := seen.left(r); left > 0 && string(r[0]) != n.id {
			next = min(next, left+10*time.Millisecond)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, by := range n.leaving {
		next = min(next, max(time.Until(by), 10*time.Millisecond))
	}
	return next
}

// alone reports whether no other node serves, as far as this one knows.
func (n *node) alone() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.others == 0
}

// Nodes lists the nodes by name, without commands.
func (s *Store) Nodes(ctx context.Context) (nodes []store.Node, err error) {
	err = s.pool.with(ctx, func(ctx context.Context, c *conn) (err error) {
		nodes, err = c.nodes(ctx)
		return err
	})
	return nodes, fault(err)
}

func (c *conn) nodes(ctx context.Context) (nodes []store.Node, err error) {
	rows, err := c.rows(ctx, newQuery(`SELECT name, version, CASE WHEN `+sqlAlive+` THEN state ELSE 'lost' END, started_at, seen_at, clock_offset,
		(SELECT count(*) FROM leases WHERE node = nodes.id AND name LIKE 'shard %')
		FROM nodes WHERE state <> 'command' ORDER BY name`))
	for _, r := range rows {
		nodes = append(nodes, store.Node{
			Name: string(r[0]), Version: string(r[1]), State: string(r[2]), StartedAt: readTime(r[3]), SeenAt: readTime(r[4]),
			ClockOffset: time.Duration(readBigint(r[5])) * time.Millisecond, Shards: int(readBigint(r[6])),
		})
	}
	return nodes, err
}
