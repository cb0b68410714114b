package boltstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// counted are counts that are not written yet. The updates that share a commit
// add to few records, each of which is written once.
type counted struct {
	key    []byte
	counts store.DeliveryCounts
}

func (t *tx) AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	t.s.counted = append(t.s.counted, counted{countsKey(at, orgID, endpoint), c})
	return nil
}

// writeCounts writes what was counted for this commit so far. An undo takes back
// only what this update counted.
func (t *tx) writeCounts() error {
	if !t.bolt.Writable() {
		return nil
	}
	undo, all := len(t.undo), t.s.counted
	err := t.addCounts(all[:t.countedBefore])
	t.undo = t.undo[:undo]
	err = cmp.Or(err, t.addCounts(all[t.countedBefore:]))
	t.s.counted, t.countedBefore = all[:0], 0
	return err
}

// addCounts adds counts to their records. A damaged record is left to be found by
// whoever reads it: it must not fail the other updates of the commit.
func (t *tx) addCounts(all []counted) error {
	slices.SortFunc(all, func(a, b counted) int { return bytes.Compare(a.key, b.key) })
	b := t.bucket(bucketDeliveryCounts)
	for i := 0; i < len(all); {
		key := all[i].key
		old := b.Get(key)
		sum, damaged := rows.Decode(old, store.CountsFields)
		for ; i < len(all) && bytes.Equal(all[i].key, key); i++ {
			sum.Add(all[i].counts)
		}
		if damaged != nil {
			continue
		}
		if err := t.replace(b, key, old, rows.Encode(store.CountsFields, sum)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) EachDeliveryCounts(orgID string, from time.Time, fn func(endpoint uint64, hour time.Time, c store.DeliveryCounts)) error {
	if err := t.writeCounts(); err != nil {
		return err
	}
	var damaged error
	t.eachCounts(orgID, hoursOf(from), func(hours uint64, key, record []byte) bool {
		n, err := rows.Decode(record, store.CountsFields)
		if damaged = err; err != nil {
			return false
		}
		fn(binary.BigEndian.Uint64(key[len(key)-8:]), time.Unix(int64(hours)*3600, 0).UTC(), n)
		return true
	})
	return storageFault(damaged)
}

// eachCounts calls fn with an org's records from an hour on while it returns true.
// It goes hour by hour, skipping the other orgs in each.
func (t *tx) eachCounts(orgID string, hours uint64, fn func(hours uint64, key, record []byte) bool) {
	c := t.bolt.Bucket(bucketDeliveryCounts).Cursor()
	prefix := countsStart(hours, orgID)
	for key, record := c.Seek(prefix); key != nil; {
		if !bytes.HasPrefix(key, prefix) {
			hours = binary.BigEndian.Uint64(key)
			prefix = countsStart(hours, orgID)
		}
		switch {
		case bytes.Compare(key, prefix) < 0:
			key, record = c.Seek(prefix)
		case !bytes.HasPrefix(key, prefix):
			key, record = c.Seek(countsStart(hours+1, orgID))
		case !fn(hours, key, record):
			return
		default:
			key, record = c.Next()
		}
	}
}

func (t *tx) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	if err := t.writeCounts(); err != nil {
		return 0, err
	}
	keys, end := firstKeys(t.bolt.Bucket(bucketDeliveryCounts), limit), numberKey(hoursOf(before))
	old, _ := slices.BinarySearchFunc(keys, end, bytes.Compare)
	return t.dropKeys(t.bucket(bucketDeliveryCounts), keys[:old])
}

func (t *tx) DropDeliveryCountsOf(orgID string, limit int) (int, error) {
	if err := t.writeCounts(); err != nil {
		return 0, err
	}
	var keys [][]byte
	t.eachCounts(orgID, 0, func(_ uint64, key, _ []byte) bool {
		if len(keys) < limit {
			keys = append(keys, bytes.Clone(key))
		}
		return len(keys) < limit
	})
	return t.dropKeys(t.bucket(bucketDeliveryCounts), keys)
}

// deliveryCounts checks only the counts' form: they outlive the endpoint.
func (c *checker) deliveryCounts() {
	c.each(c.bolt.Bucket(bucketDeliveryCounts), func(key, value []byte) {
		if _, err := rows.Decode(value, store.CountsFields); err != nil {
			c.fault("deliveryCounts %q: the record is damaged", key)
		}
		if org := len(key) - 8 - 1 - 8; org <= 0 || bytes.IndexByte(key[8:], 0) != org {
			c.fault("deliveryCounts %q: is not an hour, org and endpoint", key)
		}
	})
}
