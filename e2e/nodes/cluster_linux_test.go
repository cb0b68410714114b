package nodes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// cluster is three nodes on one database, each by a link of its own, and callers that
// post to any of them.
type cluster struct {
	*testing.T
	random   *rand.Rand
	pg       *postgres.Server
	database string // its URL, past the links
	receiver *countingReceiver
	nodes    [3]*clusterNode
	paused   *clusterNode // does not run; may be nil
	pausedAt time.Time
	balanced bool // callers are behind a balancer: only what it can't hide may happen

	stop         context.CancelFunc
	callers      sync.WaitGroup
	accepted     load.Accepted
	acceptedAt   [clusterEndpoints]atomic.Int64
	cut, refused atomic.Int64 // requests without an answer, and answers 503
	probes       int
	mu           sync.Mutex
	rounds       []*clusterRound
}

// clusterNode is one of the nodes.
type clusterNode struct {
	*program.Data
	name   string
	number int
	proxy  *postgres.Proxy
	flags  []string
	server atomic.Pointer[program.Process]
}

const (
	clusterOrgs      = 4
	clusterEndpoints = 24
	clusterCallers   = 64
	// maxUnderway is how many deliveries to an endpoint may be underway before callers turn
	// to others: they send no more than the machine can.
	maxUnderway = 8
)

// callerPause is how long a caller waits before its next post. Other tests run at the
// same time unless they are run at full size.
func callerPause() time.Duration {
	if kit.AtSize() {
		return 100 * time.Millisecond
	}
	return 250 * time.Millisecond
}

// oneCluster is locked while there is one: two are more than a small machine can do in the
// times that are promised.
var oneCluster sync.Mutex

func newCluster(t *testing.T, balanced bool) *cluster {
	t.Helper()
	oneCluster.Lock()
	t.Cleanup(oneCluster.Unlock)
	random := kit.Random(t)
	pg := postgres.Start(t)
	c := &cluster{
		T: t, random: random, pg: pg, database: pg.Database(t), receiver: newCountingReceiver(t, random.Uint64()),
		balanced: balanced,
	}
	seed := kit.NewFile(t, "seed.json", c.receiver.seed(t))
	for i := range c.nodes {
		n := &clusterNode{name: fmt.Sprint("node-", i), number: i, proxy: postgres.NewProxy(t, pg)}
		n.Data = program.InDatabase(t, postgres.PasswordApart(t, n.proxy.URL(postgres.Name(t, c.database))+"&application_name="+n.name))
		n.flags = []string{
			"--node", n.name, "--seed", seed, "--webhook-ca", c.receiver.caFile, "--allow-endpoint-cidr", "127.0.0.1/32",
			"--key-rate", "0", "--client-rate", "0", "--max-conns-per-client", "0", "--retry-schedule", strings.Repeat("50ms,", 19) + "50ms",
		}
		c.nodes[i] = n
		c.start(n)
	}
	postgres.Exec(t, c.database, sqlWitness)
	c.settle()
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	t.Cleanup(func() { stop(); c.callers.Wait() })
	for caller := range clusterCallers {
		c.callers.Go(func() { c.call(ctx, caller) })
	}
	return c
}

// start starts a node, whose address is another one each time.
func (c *cluster) start(n *clusterNode) {
	c.Helper()
	p := n.Serve(n.flags...)
	if p.Client.Timeout = time.Second; c.balanced {
		p.Client.Timeout = 20 * time.Second
	}
	n.server.Store(p)
}

// call posts to all endpoints by all nodes, each time with a key of its own.
func (c *cluster) call(ctx context.Context, caller int) {
	for i := 0; ctx.Err() == nil; i++ {
		endpoint := (caller + 5*i) % clusterEndpoints
		if c.acceptedAt[endpoint].Load()-c.receiver.arrivedAt[endpoint].Load() < maxUnderway {
			c.post(caller+i, endpoint, fmt.Sprintf("%d-%d", caller, i))
		}
		<-time.After(callerPause())
	}
}

// post posts to an endpoint until that is accepted, by one node after the other, and
// returns the delivery.
func (c *cluster) post(first, endpoint int, key string) (id string) {
	began := time.Now()
	secret := fmt.Sprintf("key_%d.example-writer-secret", endpoint%clusterOrgs)
	for try := first; time.Since(began) < time.Minute; try++ {
		p := c.nodes[try%len(c.nodes)].server.Load()
		got, err := p.Do("POST", fmt.Sprintf("/webhooks/whe_%d/test", endpoint), secret, "Idempotency-Key", key)
		var body struct{ ID string }
		switch {
		case err != nil && c.balanced && !kit.Refused(err):
			c.Errorf("a request was not answered: %v", err)
			return ""
		case err != nil:
			c.cut.Add(1)
		case got.Status == http.StatusOK && json.Unmarshal([]byte(got.Body), &body) == nil:
			c.accepted.Add(c.T, body.ID, time.Since(began))
			c.acceptedAt[endpoint].Add(1)
			c.waited(began)
			return body.ID
		case got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != "":
			c.refused.Add(1)
		case got.Status == http.StatusConflict && !c.balanced: // it still runs there
		default:
			c.Errorf("answered %d %v %s", got.Status, got.Header, got.Body)
			c.Cleanup(func() { c.Logf("its log has\n%s", errorsOf(p)) })
			return ""
		}
		<-time.After(20 * time.Millisecond)
	}
	c.Errorf("a request was not accepted for a minute")
	return ""
}

// errorsOf are the errors that a server logged last, but for those of a database that
// is away.
func errorsOf(p *program.Process) string {
	var last []string
	for line := range strings.Lines(p.Out.String()) {
		if strings.Contains(line, `"level":"error"`) && !strings.Contains(line, "can't be used right now") {
			last = append(last, line)
		}
	}
	return strings.Join(last[max(0, len(last)-5):], "")
}

// await waits for something that the nodes do.
func (c *cluster) await(what string, done func() bool) {
	c.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			for _, n := range c.nodes {
				lines := n.server.Load().Out.Lines()
				c.Logf("%s said last:\n%s", n.name, strings.Join(lines[max(0, len(lines)-20):], "\n"))
			}
			c.Fatalf("%s did not come; the shards: %v", what, postgres.Exec(c, c.database, sqlShares))
		}
	}
}

// running are the nodes that are not paused.
func (c *cluster) running() []*clusterNode {
	return slices.DeleteFunc(slices.Clone(c.nodes[:]), func(n *clusterNode) bool { return n == c.paused })
}

// sqlShares has a row for each node: its name, how many shards it has, and whether it
// listens to hints.
const sqlShares = `SELECT name, (SELECT count(*) FROM leases WHERE node = nodes.id AND name LIKE 'shard %'),
	EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = nodes.name) FROM nodes WHERE state <> 'command'`

// settle waits until the running nodes are ready, have all endpoints among them, and
// hear one another.
func (c *cluster) settle() {
	c.Helper()
	running := c.running()
	c.await("that all is shared out", func() bool {
		left := 64
		for _, row := range postgres.Exec(c, c.database, sqlShares) {
			if i := slices.IndexFunc(running, func(n *clusterNode) bool { return n.name == row[0] }); i >= 0 && row[1] != "0" && row[2] == "t" {
				left -= atoi(c.T, row[1])
			}
		}
		return left == 0 && !slices.ContainsFunc(running, func(n *clusterNode) bool { return !n.ready() })
	})
}

// ready reports whether a node says so.
func (n *clusterNode) ready() bool {
	p := n.server.Load()
	answer, err := p.Client.Get(p.URL + server.ReadyPath)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// of are the endpoints whose deliveries a node sends.
func (c *cluster) of(n *clusterNode) (endpoints []int) {
	c.Helper()
	for _, row := range postgres.Exec(c, c.database, fmt.Sprintf(`SELECT convert_from(substring(e.key FROM position('\x00'::bytea IN e.key) + 5), 'UTF8') FROM endpoints e
		JOIN leases l ON l.name = 'shard ' || lpad((get_byte(e.endpoint_numbers, 7) %% 64)::text, 2, '0') JOIN nodes n ON n.id = l.node WHERE n.name = '%s'`, n.name)) {
		endpoints = append(endpoints, atoi(c.T, row[0]))
	}
	return endpoints
}
