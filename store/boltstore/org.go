package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var orgs = table[store.Org]{bucket: bucketOrgs, noun: "org", fields: codec.Org}

func (t *tx) Org(id string) (store.Org, error) { return orgs.get(t, []byte(id)) }

func (t *tx) Orgs(after string, limit int) ([]store.Org, error) {
	return orgs.list(t, after, limit)
}

func (t *tx) PutOrg(o store.Org) error {
	t.Touched = true
	return orgs.put(t, []byte(o.ID), o)
}

func (t *tx) AnyOrg() (bool, error) {
	for _, name := range [][]byte{bucketOrgs, bucketRemovedOrgs} {
		if key, _ := t.bolt.Bucket(name).Cursor().First(); key != nil {
			return true, nil
		}
	}
	return false, nil
}

func (t *tx) DeleteOrg(id string) error {
	if _, err := t.Org(id); err != nil {
		return err
	}
	t.Touched = true
	if err := orgs.delete(t, []byte(id)); err != nil {
		return err
	}
	return t.insert(t.bucket(bucketRemovedOrgs), []byte(id), []byte{})
}

func (t *tx) OrgRemoved(id string) (bool, error) {
	return t.bolt.Bucket(bucketRemovedOrgs).Get([]byte(id)) != nil, nil
}

func (t *tx) RemovedOrgs(limit int) (ids []string, err error) {
	for _, key := range firstKeys(t.bolt.Bucket(bucketRemovedOrgs), nil, limit) {
		ids = append(ids, string(key))
	}
	return ids, nil
}

func (t *tx) ForgetOrg(id string) error {
	for _, name := range [][]byte{bucketInstructions, bucketLastRemoved, bucketRemovedOrgs} {
		if err := t.delete(t.bucket(name), []byte(id)); err != nil {
			return err
		}
	}
	return nil
}

// orgs checks that no org is both there and removed.
func (c *checker) orgs() {
	orgs.check(c, func(key []byte, _ *store.Org) {
		if c.get(bucketRemovedOrgs, key) != nil {
			c.fault("orgs %q: is removed, too", key)
		}
	})
	c.count(bucketRemovedOrgs)
}
