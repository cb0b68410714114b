package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// DeliveryCounts codes the fields of a record in their order; new ones go to the end.
func DeliveryCounts(c *rows.Codec, n *store.DeliveryCounts) {
	c.Int(&n.Acknowledged)
	c.Int(&n.Retrying)
	c.Int(&n.Failed)
	for i := range n.Latency {
		c.Int(&n.Latency[i])
	}
}
