package nodes_test

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// leaseTime is that of a node's leases. What a node has that is gone, another one has when
// it is over.
const leaseTime = 6 * time.Second

// nodeFault is what happens to a node or to all, until it is over.
type nodeFault struct {
	name string
	do   func(*cluster, *clusterNode)
}

var nodeFaults = []nodeFault{
	{"paused", (*cluster).pause},
	{"killed", func(c *cluster, n *clusterNode) {
		c.lose(n, func(p *program.Process) { p.Kill() })
		c.start(n)
	}},
	{"link cut", func(c *cluster, n *clusterNode) { n.proxy.Cut() }},
	{"database restarted", func(c *cluster, n *clusterNode) {
		c.pg.Restart(c, "immediate")
		c.goOn(n, allEndpoints())
	}},
	{"stopped", func(c *cluster, n *clusterNode) {
		c.stopNode(n)
		c.start(n)
	}},
	{"requests held", func(c *cluster, n *clusterNode) { c.hold(n, postgres.ToServer) }},
	{"answers held", func(c *cluster, n *clusterNode) { c.hold(n, postgres.ToClient) }},
	// Those above are all kinds, and those below are more of the ones that take less time.
	{"killed and started", func(c *cluster, n *clusterNode) {
		had := c.of(n)
		n.server.Load().Kill()
		c.start(n)
		c.goOn(n, had)
	}},
	{"stopped", func(c *cluster, n *clusterNode) {
		c.stopNode(n)
		c.start(n)
	}},
	{"link cut", func(c *cluster, n *clusterNode) { n.proxy.Cut() }},
}

// TestNodesUnderFaults: whatever happens to nodes, their links and their database, what
// was acknowledged is there and arrives, again only if it was in flight, and no node writes
// an outcome of what it does not have any more.
func TestNodesUnderFaults(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	c := newCluster(t, false)
	kinds := slices.Clone(nodeFaults)
	for i := range kit.Size(3, 100) {
		if i%len(kinds) == 0 {
			c.random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		}
		c.round(kinds[i%len(kinds)])
	}
	c.resume()
	c.end()
}

// TestRollingRestart: while nodes are restarted one after the other, callers behind a
// balancer see nothing but 503 with Retry-After.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	c := newCluster(t, true)
	for range kit.Size(1, 10) {
		for _, n := range c.nodes {
			c.record("stopped", n, func() {
				c.stopNode(n)
				c.start(n)
				c.await(n.name+" to be ready", n.ready)
			})
		}
	}
	c.end()
}

// round does something to one of the running nodes, in the midst of requests, and waits
// until all is well again.
func (c *cluster) round(f nodeFault) {
	c.Helper()
	if f.name == "paused" {
		c.resume()
	}
	running := c.running()
	n := running[c.random.IntN(len(running))]
	<-time.After(time.Duration(c.random.IntN(300)) * time.Millisecond)
	c.record(f.name, n, func() { f.do(c, n) })
	if c.paused != nil && time.Since(c.pausedAt) > 2*leaseTime {
		c.resume()
	}
}

// pause stops a node for twice the lease, in which it knows of nothing; other rounds go on.
func (c *cluster) pause(n *clusterNode) {
	c.pausedAt = time.Now()
	c.lose(n, func(p *program.Process) { p.Cmd.Process.Signal(syscall.SIGSTOP) })
	c.paused = n
}

// resume ends a pause in its time, if there is one.
func (c *cluster) resume() {
	c.Helper()
	if n := c.paused; n != nil {
		<-time.After(time.Until(c.pausedAt.Add(2 * leaseTime)))
		c.record("resumed", n, func() {
			n.server.Load().Cmd.Process.Signal(syscall.SIGCONT)
			c.paused = nil
		})
	}
}

// lose takes a node away, until others send what it sent.
func (c *cluster) lose(n *clusterNode, take func(*program.Process)) {
	c.Helper()
	had := c.of(n)
	take(n.server.Load())
	c.goOn(n, had)
}

// stopNode stops a node gracefully.
func (c *cluster) stopNode(n *clusterNode) {
	c.Helper()
	ended := make(chan error, 1)
	c.lose(n, func(p *program.Process) {
		go func() { ended <- p.Stop() }()
	})
	if err := <-ended; err != nil {
		c.Errorf("%s ended with %v\n%s", n.name, err, n.server.Load().Out)
	}
}

// hold keeps back what a node sends to the database, or is answered, for a while or until
// others have what it had.
func (c *cluster) hold(n *clusterNode, d postgres.Direction) {
	c.Helper()
	switch c.random.IntN(8) {
	case 0:
		c.lose(n, func(*program.Process) { n.proxy.Hold(d) })
	default:
		n.proxy.Hold(d)
		<-time.After(time.Duration(200+c.random.IntN(2000)) * time.Millisecond)
	}
	if c.random.IntN(2) == 0 {
		n.proxy.Cut()
	} else {
		n.proxy.Resume(d)
	}
}

// goOn posts to endpoints that a node had, beginning with another node, and notes the longest
// time from the acceptance of one of these posts to its receipt. How long the acceptance takes
// is up to the database, which may have a busy disk.
func (c *cluster) goOn(n *clusterNode, endpoints []int) {
	c.Helper()
	others := slices.DeleteFunc(c.running(), func(o *clusterNode) bool { return o == n })
	ids, accepted := make([]string, len(endpoints)), make([]time.Time, len(endpoints))
	var posts sync.WaitGroup
	for i, endpoint := range endpoints {
		c.probes++
		key := fmt.Sprint("probe ", c.probes)
		posts.Go(func() {
			ids[i] = c.post(others[i%len(others)].number, endpoint, key)
			accepted[i] = time.Now()
		})
	}
	posts.Wait()
	var longest time.Duration
	c.await("that deliveries go on", func() bool {
		for i, id := range ids {
			posts := c.receiver.of(id)
			if len(posts) == 0 {
				return false
			}
			longest = max(longest, posts[0].at.Sub(accepted[i]))
		}
		return true
	})
	r := c.rounds[len(c.rounds)-1]
	r.wentOn = longest
}

func allEndpoints() (all []int) {
	for i := range clusterEndpoints {
		all = append(all, i)
	}
	return all
}
