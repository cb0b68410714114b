package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Org codes the fields of a record in their order; new ones go to the end.
func Org(c *rows.Codec, o *store.Org) {
	c.Text(&o.ID)
	c.Text(&o.Name)
	c.Time(&o.CreatedAt)
	c.Text(&o.Subscription.ID)
	c.Text(&o.Subscription.Product)
	c.Text(&o.Subscription.Plan)
	c.Text(&o.Subscription.Interval)
	c.Text(&o.Subscription.Status)
}
