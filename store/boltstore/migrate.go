package boltstore

import (
	"bytes"
	"math"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// migrations bring a file from the schema of their index, plus one, to the
// next. Each runs with all of today's buckets made.
var migrations = []func(*bbolt.Tx) error{toSchema2, toSchema3, toSchema4}

// migrate brings a file of an older schema to today's.
func migrate(bolt *bbolt.Tx, from uint64) error {
	for _, step := range migrations[from-1:] {
		if err := step(bolt); err != nil {
			return err
		}
	}
	return nil
}

// toSchema2 makes deliveryLists and the events' lists of deliveries, in place of
// due; and managers, in place of owners.
func toSchema2(bolt *bbolt.Tx) error {
	t := &tx{bolt: bolt}
	for _, id := range allKeys(bolt.Bucket(bucketDeliveries)) {
		if err := t.deliveryToSchema2(string(id)); err != nil {
			return err
		}
	}
	for _, key := range allKeys(bolt.Bucket(bucketMembers)) {
		var m store.Member
		if err := t.get(bucketMembers, key, "member", memberFields(&m)); err != nil {
			return err
		}
		if err := t.putManager(m); err != nil {
			return err
		}
	}
	for _, name := range []string{"due", "owners"} {
		if err := bolt.DeleteBucket([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}

// toSchema3 makes apiKeyList. The other buckets that it brings begin empty.
func toSchema3(bolt *bbolt.Tx) error {
	t := &tx{bolt: bolt}
	for _, id := range allKeys(bolt.Bucket(bucketAPIKeys)) {
		k, err := t.APIKey(string(id))
		if err != nil {
			return err
		}
		if err := t.put(t.bucket(bucketAPIKeyList), orgKey(k.OrgID, k.ID), []byte{}); err != nil {
			return err
		}
	}
	return nil
}

// toSchema4 makes managedOrgs, and counts the attempts in the deliveries'
// histories. The other buckets that it brings begin empty.
func toSchema4(bolt *bbolt.Tx) error {
	t := &tx{bolt: bolt}
	for _, key := range allKeys(bolt.Bucket(bucketManagers)) {
		org, user, _ := bytes.Cut(key, []byte{0})
		if err := t.put(t.bucket(bucketManagedOrgs), orgKey(string(user), string(org)), []byte{}); err != nil {
			return err
		}
	}
	c := bolt.Bucket(bucketDeliveries).Cursor()
	for key, record := c.First(); key != nil; key, record = c.Next() {
		if err := t.countHistory(record); err != nil {
			return err
		}
		t.undo = t.undo[:0] // there may be millions, and none is undone alone
	}
	return nil
}

func (t *tx) countHistory(record []byte) error {
	var d store.Delivery
	err := decode(record, deliveryFields(&d))
	for i := 0; err == nil && i < len(d.History); i++ {
		a := &d.History[i]
		err = t.AddDeliveryCounts(d.OrgID, d.EndpointNumber, a.EndedAt, a.Counts())
	}
	return err
}

func allKeys(b *bbolt.Bucket) [][]byte { return firstKeys(b, math.MaxInt) }

// deliveryToSchema2 fills in what schema 1 did not keep of a delivery: a
// finished one counts as finished when its last attempt was due, or at its
// first attempt if that was later; the last of them that was acknowledged is
// what the endpoint acknowledged last.
func (t *tx) deliveryToSchema2(id string) error {
	d, err := t.Delivery(id)
	if err != nil {
		return err
	}
	e, err := t.Event(d.EventID)
	if err != nil {
		return err
	}
	e.Deliveries = append(e.Deliveries, d.ID)
	if err := t.put(t.bucket(bucketEvents), []byte(e.ID), encode(eventFields(&e))); err != nil {
		return err
	}
	if d.EventType = e.Type; !d.State.Waiting() {
		d.FinishedAt = latest(d.DueAt, d.FirstAttemptAt)
	}
	if err := t.acknowledgedToSchema2(&d); err != nil {
		return err
	}
	if err := t.enlist(&d); err != nil {
		return err
	}
	return t.put(t.bucket(bucketDeliveries), []byte(d.ID), encode(deliveryFields(&d)))
}

func (t *tx) acknowledgedToSchema2(d *store.Delivery) error {
	last, err := t.LastAcknowledged(d.EndpointNumber)
	if err != nil || d.State != store.StateAcknowledged || !d.FinishedAt.After(last) {
		return err
	}
	return t.PutLastAcknowledged(d.EndpointNumber, d.FinishedAt)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
