package boltstore

import "teamdata/store"

// The records, field by field. New fields go to the end.

func orgFields(o *store.Org) func(*codec) {
	return func(c *codec) {
		c.text(&o.ID)
		c.text(&o.Name)
		c.time(&o.CreatedAt)
		c.text(&o.Subscription.ID)
		c.text(&o.Subscription.Product)
		c.text(&o.Subscription.Plan)
		c.text(&o.Subscription.Interval)
		c.text(&o.Subscription.Status)
	}
}

func planFields(p *store.Plan) func(*codec) {
	return func(c *codec) {
		c.text(&p.Name)
		small(c, &p.Features)
	}
}

func memberFields(m *store.Member) func(*codec) {
	return func(c *codec) {
		c.text(&m.OrgID)
		c.text(&m.ID)
		c.text(&m.UserID)
		c.text(&m.Role)
		c.text(&m.Name)
		c.text(&m.Email)
		c.time(&m.CreatedAt)
	}
}

func instructionsFields(i *store.Instructions) func(*codec) {
	return func(c *codec) {
		c.text(&i.Text)
		c.flag(&i.Set)
		c.time(&i.UpdatedAt)
	}
}

func eventTypeFields(e *store.EventType) func(*codec) {
	return func(c *codec) {
		c.text(&e.Name)
		c.text(&e.Description)
		c.bytes(&e.Schema)
		c.time(&e.CreatedAt)
	}
}

func endpointFields(e *store.Endpoint) func(*codec) {
	return func(c *codec) {
		c.number(&e.Number)
		c.text(&e.ID)
		c.text(&e.OrgID)
		c.text(&e.URL)
		c.text(&e.Description)
		c.texts(&e.Events)
		c.text(&e.Secret)
		c.time(&e.CreatedAt)
		c.time(&e.DisabledAt)
		c.text(&e.OldSecret)
		c.time(&e.OldSecretUntil)
	}
}

func eventFields(e *store.Event) func(*codec) {
	return func(c *codec) {
		c.text(&e.ID)
		c.text(&e.OrgID)
		c.text(&e.Type)
		c.time(&e.CreatedAt)
		c.bytes(&e.Body)
		c.texts(&e.Deliveries)
	}
}

func deliveryFields(d *store.Delivery) func(*codec) {
	return func(c *codec) {
		c.text(&d.ID)
		c.text(&d.EventID)
		c.text(&d.OrgID)
		c.text(&d.EndpointID)
		c.number(&d.EndpointNumber)
		small(c, &d.State)
		c.int(&d.Attempts)
		c.time(&d.CreatedAt)
		c.time(&d.FirstAttemptAt)
		c.time(&d.DueAt)
		c.time(&d.FinishedAt)
		c.text(&d.EventType)
		list(c, &d.History, func(a *store.Attempt) { c.record(attemptFields(a)) })
	}
}

func attemptFields(a *store.Attempt) func(*codec) {
	return func(c *codec) {
		c.time(&a.StartedAt)
		c.after(a.StartedAt, &a.EndedAt)
		c.int(&a.Status)
		c.flag(&a.TimedOut)
		c.text(&a.Reason)
		c.bytes(&a.Answer)
		c.time(&a.NextAt)
	}
}

func countsFields(n *store.DeliveryCounts) func(*codec) {
	return func(c *codec) {
		c.int(&n.Acknowledged)
		c.int(&n.Retrying)
		c.int(&n.Failed)
		for i := range n.Latency {
			c.int(&n.Latency[i])
		}
	}
}

func mailFields(m *store.Mail) func(*codec) {
	return func(c *codec) {
		c.text(&m.ID)
		c.text(&m.OrgID)
		c.text(&m.To)
		c.text(&m.Name)
		c.text(&m.Template)
		c.pairs(&m.Values)
		c.time(&m.CreatedAt)
		c.int(&m.Attempts)
		c.time(&m.DueAt)
	}
}

func idempotencyFields(r *store.IdempotencyRecord) func(*codec) {
	return func(c *codec) {
		c.text(&r.OrgID)
		c.text(&r.Key)
		c.hash((*[32]byte)(&r.Fingerprint))
		c.time(&r.FirstUse)
		c.int(&r.Answer.Status)
		c.text(&r.Answer.ContentType)
		c.bytes(&r.Answer.Body)
	}
}
