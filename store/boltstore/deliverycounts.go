package boltstore

import (
	"bytes"
	"encoding/binary"
	"time"

	"teamdata/store"
)

var deliveryCounts = table[store.DeliveryCounts]{bucket: bucketDeliveryCounts, fields: countsFields}

func countsFields(c *codec, n *store.DeliveryCounts) {
	c.int(&n.Acknowledged)
	c.int(&n.Retrying)
	c.int(&n.Failed)
	for i := range n.Latency {
		c.int(&n.Latency[i])
	}
}

func (t *tx) AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	b, key := t.bucket(bucketDeliveryCounts), countsKey(at, orgID, endpoint)
	old := b.Get(key)
	sum, err := decode(old, countsFields)
	if err != nil {
		return storageFault(err)
	}
	sum.Add(c)
	return t.replace(b, key, old, encode(countsFields, sum))
}

// EachDeliveryCounts goes hour by hour, skipping the other orgs in each.
func (t *tx) EachDeliveryCounts(orgID string, from time.Time, fn func(endpoint uint64, hour time.Time, c store.DeliveryCounts)) error {
	c := t.bolt.Bucket(bucketDeliveryCounts).Cursor()
	hours := hoursOf(from)
	for key, record := c.Seek(countsStart(hours, orgID)); key != nil; {
		hours = binary.BigEndian.Uint64(key)
		prefix := countsStart(hours, orgID)
		if bytes.Compare(key, prefix) < 0 {
			key, record = c.Seek(prefix)
			continue
		}
		if !bytes.HasPrefix(key, prefix) {
			key, record = c.Seek(countsStart(hours+1, orgID))
			continue
		}
		n, err := decode(record, countsFields)
		if err != nil {
			return storageFault(err)
		}
		fn(binary.BigEndian.Uint64(key[len(prefix):]), time.Unix(int64(hours)*3600, 0).UTC(), n)
		key, record = c.Next()
	}
	return nil
}

func (t *tx) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	keys, end := firstKeys(t.bolt.Bucket(bucketDeliveryCounts), limit), numberKey(hoursOf(before))
	for i, key := range keys {
		if bytes.Compare(key, end) >= 0 {
			return i, nil
		}
		if err := t.delete(t.bucket(bucketDeliveryCounts), key); err != nil {
			return i, err
		}
	}
	return len(keys), nil
}

// deliveryCounts checks only the counts' form: they outlive the endpoint.
func (c *checker) deliveryCounts() {
	deliveryCounts.check(c, func(key []byte, _ *store.DeliveryCounts) {
		if org := len(key) - 8 - 1 - 8; org <= 0 || bytes.IndexByte(key[8:], 0) != org {
			c.fault("deliveryCounts %q: is no hour, org and endpoint", key)
		}
	})
}
