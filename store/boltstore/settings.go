package boltstore

import (
	"bytes"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

func (t *tx) Org(id string) (o store.Org, err error) {
	return o, t.get(bucketOrgs, []byte(id), "org", orgFields(&o))
}

func (t *tx) Orgs(after string, limit int) ([]store.Org, error) {
	return records(t.bolt.Bucket(bucketOrgs).Cursor(), []byte(after), limit, orgFields)
}

func (t *tx) PutOrg(o store.Org) error {
	t.touched = true
	return t.put(t.bucket(bucketOrgs), []byte(o.ID), encode(orgFields(&o)))
}

func (t *tx) AnyOrg() (bool, error) {
	key, _ := t.bolt.Bucket(bucketOrgs).Cursor().First()
	return key != nil, nil
}

func (t *tx) Plan(name string) (p store.Plan, err error) {
	return p, t.get(bucketPlans, []byte(name), "plan", planFields(&p))
}

func (t *tx) Plans() ([]store.Plan, error) {
	return records(t.bolt.Bucket(bucketPlans).Cursor(), nil, all, planFields)
}

func (t *tx) PutPlan(p store.Plan) error {
	t.touched = true
	return t.put(t.bucket(bucketPlans), []byte(p.Name), encode(planFields(&p)))
}

func (t *tx) DeletePlan(name string) error {
	t.touched = true
	return t.delete(t.bucket(bucketPlans), []byte(name))
}

func (t *tx) Instructions(orgID string) (i store.Instructions, err error) {
	err = t.get(bucketInstructions, []byte(orgID), "instructions", instructionsFields(&i))
	if store.IsNotFound(err) {
		err = nil
	}
	return i, err
}

func (t *tx) PutInstructions(orgID string, i store.Instructions) error {
	return t.put(t.bucket(bucketInstructions), []byte(orgID), encode(instructionsFields(&i)))
}

func (t *tx) EventType(name string) (e store.EventType, err error) {
	return e, t.get(bucketEventTypes, []byte(name), "event type", eventTypeFields(&e))
}

func (t *tx) EventTypes() ([]store.EventType, error) {
	return records(t.bolt.Bucket(bucketEventTypes).Cursor(), nil, all, eventTypeFields)
}

func (t *tx) PutEventType(e store.EventType) error {
	return t.put(t.bucket(bucketEventTypes), []byte(e.Name), encode(eventTypeFields(&e)))
}

func (t *tx) DeleteEventType(name string) error {
	return t.delete(t.bucket(bucketEventTypes), []byte(name))
}

func (t *tx) Certificate(name string) ([]byte, error) {
	kept := t.bolt.Bucket(bucketCertificates).Get([]byte(name))
	if kept == nil {
		return nil, store.Errorf(store.CodeNotFound, "There is no such certificate.")
	}
	pem, err := t.s.seal.openCertificate([]byte(name), kept)
	return pem, storageFault(err)
}

func (t *tx) PutCertificate(name string, pem []byte) error {
	return t.put(t.bucket(bucketCertificates), []byte(name), t.s.seal.sealCertificate([]byte(name), pem))
}

// all is a limit that no list reaches.
const all = int(^uint(0) >> 1)

// records decodes up to limit records of a bucket behind a key.
func records[T any](c *bbolt.Cursor, after []byte, limit int, fields func(*T) func(*codec)) (list []T, err error) {
	key, record := c.Seek(after)
	if len(after) > 0 && bytes.Equal(key, after) {
		key, record = c.Next()
	}
	for ; key != nil && len(list) < limit; key, record = c.Next() {
		var one T
		if err := decode(record, fields(&one)); err != nil {
			return nil, storageFault(err)
		}
		list = append(list, one)
	}
	return list, nil
}
