package boltstore

import "teamdata/store"

var orgs = table[store.Org]{bucket: bucketOrgs, noun: "org", fields: orgFields}

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

func (t *tx) Org(id string) (o store.Org, err error) {
	return o, orgs.get(t, []byte(id), orgFields(&o))
}

func (t *tx) Orgs(after string, limit int) ([]store.Org, error) {
	return orgs.list(t, after, limit)
}

func (t *tx) PutOrg(o store.Org) error {
	t.touched = true
	return orgs.put(t, []byte(o.ID), orgFields(&o))
}

func (t *tx) AnyOrg() (bool, error) {
	key, _ := t.bolt.Bucket(bucketOrgs).Cursor().First()
	return key != nil, nil
}
