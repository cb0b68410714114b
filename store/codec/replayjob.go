package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// ReplayJob codes the fields of a record in their order; new ones go to the end.
func ReplayJob(c *rows.Codec, j *store.ReplayJob) {
	c.Text(&j.ID)
	c.Text(&j.OrgID)
	c.Text(&j.ActorID)
	deliveryFilter(c, &j.Filter)
	c.Texts(&j.Deliveries)
	c.Int(&j.Total)
	c.Flag(&j.More)
	rows.Small(c, &j.State)
	c.Int(&j.Done)
	replayPosition(c, &j.At)
	c.Time(&j.CreatedAt)
	c.Time(&j.FinishedAt)
}

func deliveryFilter(c *rows.Codec, f *store.DeliveryFilter) {
	c.Text(&f.Endpoint)
	c.Text(&f.State)
	c.Text(&f.Type)
	c.Text(&f.Status)
	c.Time(&f.Since)
	c.Time(&f.Until)
	c.Text(&f.Query)
}

func replayPosition(c *rows.Codec, at *store.ReplayPosition) {
	c.Text(&at.Endpoint)
	rows.Small(c, &at.List)
	c.Number(&at.After.Ms)
	c.Text(&at.After.ID)
	c.Int(&at.Index)
}
