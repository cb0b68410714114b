package pgstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// nodeCommand is the state of one that sends nothing, and that nobody asks anything.
const nodeCommand = "command"

// coordinating is how many connections heartbeats, looks and hints share.
const coordinating = 2

// host is what a node has of the store that it is for, of which it knows no row and no
// transaction.
type host struct {
	life     context.Context                            // done once the database no longer knows the node
	running  context.Context                            // done once the store is closed, too
	clock    *databaseClock                             // which each heartbeat reads
	tell     func(*rows.Changes)                        // of what others changed
	announce func(ctx context.Context, shards []string) // what is due in shards that the node has
	replaced func() error                               // ends life
}

// node is this process among those that use the database.
type node struct {
	host
	options  Options
	id, name string
	schema   int           // the last migration that the program knows
	conns    *pool         // of its own, so that no reader and no commit delays a heartbeat
	nudged   chan struct{} // has one token when a heartbeat is due at once
	turn     chan struct{} // has one token while lockLeases holds it
	lookNow  chan struct{} // has one token when a look is due at once
	sight    sight
	known    known
	seen     seen
	hints    hints // to be sent
	heard    hints // to be followed

	mu         sync.Mutex
	state      string
	asked      moment            // when its last heartbeat was asked for
	others     int               // nodes that serve beside it
	before     uint32            // how many of these come before it
	wrongSince time.Time         // when its clock was found wrong; zero: it is not
	held       map[string]uint64 // the tokens of its leases, by name
	leaving    map[string]bool   // shards that it is to give up
	inFlight   map[string]int    // claims of each shard, and calls that make some
	claims     map[string]claim  // of deliveries, by id
	claimed    map[uint64]int    // how many of these each endpoint has
	jobs       map[string]*job
	lease      time.Duration // how long it has what it took
	lapsing    *time.Timer   // ends the jobs when the node stops to rely on what it has
	stopping   sync.Once
	stopped    chan struct{} // closed once it stops and has no shard any more
}

// claim is a claimed delivery.
type claim struct {
	endpoint uint64
	row      row
	version  []byte // of the row: the transaction that wrote it
}

func newNode(h host, target *Target, o Options) *node {
	n := &node{
		host: h, options: o, id: new(store.IDSource).Next("nod_", time.Now()), name: o.Node, state: store.NodeRunning,
		conns: newPool(target, coordinating), nudged: make(chan struct{}, 1), lookNow: make(chan struct{}, 1), turn: make(chan struct{}, 1), stopped: make(chan struct{}),
		held: map[string]uint64{}, leaving: map[string]bool{}, inFlight: map[string]int{}, claims: map[string]claim{}, claimed: map[uint64]int{}, jobs: map[string]*job{},
		hints: hints{wake: make(chan struct{}, 1)}, heard: hints{wake: make(chan struct{}, 1)},
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
// node of a row was seen lately by that clock, for who has not seen it by its own.
const sqlNow = "(extract(epoch FROM now()) * 1000)::bigint"

var sqlAlive = fmt.Sprintf("seen_at > %s - %d", sqlNow, leaseTime.Milliseconds())

// sqlThere finds the nodes that use the database.
var sqlThere = "SELECT CASE state WHEN 'command' THEN '' ELSE name END, version, id, state, seen_at FROM nodes WHERE " + sqlAlive

// whoUses names some nodes that sqlThere found, for the operator.
func whoUses(there []row) string {
	var names []string
	for _, r := range there {
		name := "the node " + string(r[0])
		if len(r[0]) == 0 {
			name = "a command"
		}
		names = append(names, fmt.Sprintf("%s (teamdata %s)", name, r[1]))
	}
	return some(names)
}

// register makes the node's rows, instead of those of an earlier one with its name: that
// was killed, or finds out by its next commit or heartbeat. It reports whether the tables
// are still those that the program may write, and no other server uses them if it is for
// tests: the lock on meta is for one who upgrades them. The other one is for those who count
// the nodes that have to see what they changed.
func (n *node) register(ctx context.Context) (current bool, err error) {
	may, access := "", n.options.access()
	if access != exporting {
		may += " AND carried_to = ''"
	}
	if access == forTests {
		may += " AND NOT EXISTS (SELECT FROM nodes WHERE state <> 'command' AND " + sqlAlive + ")"
	}
	var made []row
	queries := []query{{sql: "SELECT FROM meta FOR SHARE"}, {sql: "SELECT FROM generations ORDER BY name FOR UPDATE"}}
	queries = append(queries, forgetNodes("name = $1", n.name)...)
	queries = append(queries,
		query{sql: "DELETE FROM leases WHERE name LIKE 'job %' AND node NOT IN (SELECT id FROM nodes)"}, // of those that were killed
		query{sql: "DELETE FROM shared_key WHERE NOT EXISTS (SELECT FROM nodes)"},
		newQuery("INSERT INTO nodes (id, name, version, schema, state, started_at, seen_at) SELECT $1::text, $2::text, $3::text, $4::bigint, $5::text, "+sqlNow+", "+sqlNow+" FROM meta WHERE may_write <= $4::bigint"+may+" RETURNING 1::bigint",
			n.id, n.name, n.options.Version, n.schema, n.state).collect(&made),
		newQuery("INSERT INTO writers (node) SELECT id FROM nodes WHERE id = $1", n.id),
		newQuery("INSERT INTO commits (node, part, n) SELECT id, 0, 0 FROM nodes WHERE id = $1", n.id))
	err = n.conns.run(ctx, queries...)
	return len(made) > 0, err
}

// forgetNodes are the statements that delete the nodes of a condition, behind what they have
// begun. The ids that they made are remembered.
func forgetNodes(where string, args ...any) (queries []query) {
	these := "node IN (SELECT id FROM nodes WHERE " + where + ")"
	for _, sql := range []string{
		"SELECT FROM nodes WHERE " + where + " ORDER BY id FOR UPDATE",
		"SELECT FROM writers WHERE " + these + " ORDER BY node FOR UPDATE",
		"INSERT INTO commits AS c (node, part, n, last_id) SELECT '', 0, 0, max(last_id) FROM commits WHERE " + these + " HAVING count(*) > 0" +
			" ON CONFLICT (node, part) DO UPDATE SET last_id = greatest(c.last_id, excluded.last_id)",
		"DELETE FROM commits WHERE " + these,
		"DELETE FROM writers WHERE " + these,
		"DELETE FROM nodes WHERE " + where,
	} {
		queries = append(queries, newQuery(sql, args...))
	}
	return queries
}

// start starts what goes on with other nodes until the store is closed.
func (n *node) start(background *sync.WaitGroup) {
	if n.options.Sole {
		return
	}
	background.Go(n.beats)
	background.Go(n.looks)
	if n.options.NoHints {
		return
	}
	background.Go(n.sendHints)
	n.hints.say(hintNodes)
	if n.state != nodeCommand {
		background.Go(func() { n.listen(n.running) })
		background.Go(func() { n.eachHint(&n.heard, n.follow) })
	}
}

// leave deletes the node's rows, so that nobody waits for it.
func (n *node) leave(ctx context.Context) error {
	n.lapsing.Stop()
	err := n.conns.run(ctx, forgetNodes("id = $1", n.id)...)
	if err == nil && !n.options.NoHints {
		n.sendHint(hintNodes)
	}
	return err
}

// alone reports whether no other node serves, as far as this one knows.
func (n *node) alone() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.others == 0
}

// half is with which half of the orgs the node begins.
func (n *node) half() uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.before % 2
}

// nodes lists them as they are seen; those that were not seen to go on are there or lost by
// the database's clock.
func (p *pool) nodes(ctx context.Context, seen *sight) (nodes []store.Node, err error) {
	rows, err := p.rows(ctx, newQuery(`SELECT name, version, state, started_at, seen_at, clock_offset,
		(SELECT count(*) FROM leases WHERE node = nodes.id AND name LIKE 'shard %'), id, (`+sqlAlive+`)::int::bigint
		FROM nodes WHERE state <> 'command' ORDER BY name`))
	for _, r := range rows {
		n := store.Node{
			Name: string(r[0]), Version: string(r[1]), State: string(r[2]), StartedAt: readTime(r[3]), SeenAt: readTime(r[4]),
			ClockOffset: time.Duration(readBigint(r[5])) * time.Millisecond, Shards: int(readBigint(r[6])),
		}
		if id := string(r[7]); !seen.has(id) || readBigint(r[8]) == 0 && !seen.saw(id) {
			n.State = store.NodeLost
		}
		nodes = append(nodes, n)
	}
	return nodes, err
}
