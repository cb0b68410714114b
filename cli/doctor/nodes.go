package doctor

import (
	"slices"
	"strings"

	"teamdata/app"
	"teamdata/internal/terminal"
	"teamdata/store"
)

// willRun is how many nodes there are with the server of this machine, which is still
// to start if it is not served.
func (d *doctor) willRun(nodes []store.Node) (n int) {
	for _, node := range nodes {
		if node.State != store.NodeLost && (d.served || node.Name != d.Node) {
			n++
		}
	}
	if !d.served {
		n++
	}
	return n
}

// checkNodes reports nodes of the database that were lost, whose clock is wrong, or that
// don't run the same version.
func (d *doctor) checkNodes(i app.Inspection) {
	var running, versions []string
	for _, n := range i.Nodes {
		if n.State == store.NodeLost {
			d.warn("start it again, or leave it: it is forgotten after an hour", "the node %s is lost; it was last seen at %s", n.Name, d.when(n.SeenAt))
			continue
		}
		running = append(running, n.Name)
		if !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
		d.checkNodeClock(n)
		if !d.served && n.Name == d.Node {
			d.warn("give each server a name of its own with --node", "a node named %s runs already; the next serve ends it", n.Name)
		}
	}
	if len(versions) > 1 {
		d.warn("bring all to the same version", "the nodes run different versions: %s", strings.Join(versions, ", "))
	}
	if len(running) > 0 {
		d.ok("%s: %s", terminal.Count(len(running), "node"), strings.Join(running, ", "))
	}
}

func (d *doctor) checkNodeClock(n store.Node) {
	const fix = "synchronize its machine and that of the database with the same NTP servers"
	off := n.ClockOffset.Abs()
	switch {
	case off > clockProblem:
		d.problem(fix, "the clocks of the node %s and of the database differ by %s, so it is not ready", n.Name, off)
	case off > clockWarning:
		d.warn(fix, "the clocks of the node %s and of the database differ by %s", n.Name, off)
	}
}
