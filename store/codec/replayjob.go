package codec

import "teamdata/store"

// ReplayJob codes the fields of a record in their order; new ones go to the end.
func ReplayJob(c *Codec, j *store.ReplayJob) {
	c.text(&j.ID)
	c.text(&j.OrgID)
	c.text(&j.ActorID)
	deliveryFilter(c, &j.Filter)
	c.texts(&j.Deliveries)
	c.int(&j.Total)
	c.flag(&j.More)
	small(c, &j.State)
	c.int(&j.Done)
	replayPosition(c, &j.At)
	c.time(&j.CreatedAt)
	c.time(&j.FinishedAt)
}

func deliveryFilter(c *Codec, f *store.DeliveryFilter) {
	c.text(&f.Endpoint)
	c.text(&f.State)
	c.text(&f.Type)
	c.text(&f.Status)
	c.time(&f.Since)
	c.time(&f.Until)
	c.text(&f.Query)
}

func replayPosition(c *Codec, at *store.ReplayPosition) {
	c.text(&at.Endpoint)
	small(c, &at.List)
	c.number(&at.After.Ms)
	c.text(&at.After.ID)
	c.int(&at.Index)
}
