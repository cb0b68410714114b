package codec

import "teamdata/store"

// DeliveryCounts codes the fields of a record in their order; new ones go to the end.
func DeliveryCounts(c *Codec, n *store.DeliveryCounts) {
	c.int(&n.Acknowledged)
	c.int(&n.Retrying)
	c.int(&n.Failed)
	for i := range n.Latency {
		c.int(&n.Latency[i])
	}
}
