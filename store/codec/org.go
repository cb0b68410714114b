package codec

import "teamdata/store"

// Org codes the fields of a record in their order; new ones go to the end.
func Org(c *Codec, o *store.Org) {
	c.text(&o.ID)
	c.text(&o.Name)
	c.time(&o.CreatedAt)
	c.text(&o.Subscription.ID)
	c.text(&o.Subscription.Product)
	c.text(&o.Subscription.Plan)
	c.text(&o.Subscription.Interval)
	c.text(&o.Subscription.Status)
}
