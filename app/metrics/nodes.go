package metrics

import (
	"slices"
	"time"

	"teamdata/store"
)

// Nodes are the servers that share a database. None: there is no database.
type Nodes struct {
	List []store.Node
	Now  time.Time // by the clock that saw them
}

// maxNodes is how many nodes a scrape has. Those that were lost longest ago are left
// out: a server without a name of its own has a new one after each start.
const maxNodes = 64

var nodeStates = []string{store.NodeRunning, store.NodeStopping, store.NodeLost}

func (n Nodes) collect(set setter) {
	if len(n.List) == 0 {
		return
	}
	owned := 0
	for _, node := range n.List {
		if node.State != store.NodeLost {
			owned += node.Shards
		}
	}
	set("teamdata_node_shards_unowned", float64(max(store.Shards-owned, 0)))
	for _, node := range n.shown() {
		set("teamdata_node_info", 1, node.Name, node.Version)
		for _, state := range nodeStates {
			set("teamdata_node_state", flag(node.State == state), node.Name, state)
		}
		set("teamdata_node_shards", float64(node.Shards), node.Name)
		set("teamdata_node_clock_offset_seconds", node.ClockOffset.Seconds(), node.Name)
		set("teamdata_node_seen_seconds", age(node.SeenAt, n.Now), node.Name)
	}
}

func (n Nodes) shown() []store.Node {
	latest := slices.SortedStableFunc(slices.Values(n.List), func(a, b store.Node) int { return b.SeenAt.Compare(a.SeenAt) })
	return latest[:min(len(latest), maxNodes)]
}
