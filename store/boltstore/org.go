package boltstore

import "teamdata/store"

var orgs = table[store.Org]{bucket: bucketOrgs, noun: "org", fields: orgFields}

func orgFields(c *codec, o *store.Org) {
	c.text(&o.ID)
	c.text(&o.Name)
	c.time(&o.CreatedAt)
	c.text(&o.Subscription.ID)
	c.text(&o.Subscription.Product)
	c.text(&o.Subscription.Plan)
	c.text(&o.Subscription.Interval)
	c.text(&o.Subscription.Status)
}

func (t *tx) Org(id string) (store.Org, error) { return orgs.get(t, []byte(id)) }

func (t *tx) Orgs(after string, limit int) ([]store.Org, error) {
	return orgs.list(t, after, limit)
}

func (t *tx) PutOrg(o store.Org) error {
	t.touched = true
	return orgs.put(t, []byte(o.ID), o)
}

func (t *tx) AnyOrg() (bool, error) {
	key, _ := t.bolt.Bucket(bucketOrgs).Cursor().First()
	return key != nil, nil
}
