package boltstore

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/rows"
)

// partitionSpan is the time span of one partition of the idempotency records: a
// longer one keeps expired records for longer, a shorter one makes more to search.
const partitionSpan = 6 * time.Hour

func partitionOf(at time.Time) uint64 {
	return uint64(max(at.UnixMilli(), 0) / partitionSpan.Milliseconds())
}

func partitionNumber(name []byte) uint64 { return binary.BigEndian.Uint64(name) }

// IdempotencyRecord gives up if it finds nothing while the index is still being
// read: Update and View then wait, outside of a transaction, and run it again.
func (t *tx) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	oldest := t.now.Add(-store.IdempotencyTTL)
	k := orgKey(orgID, key)
	// Up to the last partition, not the current one: the clock may have stepped back.
	places, all := t.s.keys.find(t.s.keys.hash(k), partitionOf(oldest), make([]keyPlace, 0, 8))
	for _, at := range places {
		r, err := t.recordAt(at, k)
		if err != nil {
			return store.IdempotencyRecord{}, storageFault(err)
		}
		if r.OrgID == orgID && r.Key == key && r.FirstUse.After(oldest) {
			return r, nil
		}
	}
	if !all {
		t.unread = true
		return store.IdempotencyRecord{}, errUnread
	}
	return store.IdempotencyRecord{}, store.Errorf(store.CodeNotFound, "The Idempotency-Key was not used.")
}

// recordAt reads the record at a place, or returns an empty one.
func (t *tx) recordAt(at keyPlace, key []byte) (r store.IdempotencyRecord, err error) {
	partition := t.bolt.Bucket(bucketIdempotency).Bucket(numberKey(at.partition))
	if partition == nil {
		return r, nil
	}
	if record := partition.Get(at.key(key)); record != nil {
		return rows.Decode(record, codec.IdempotencyRecord)
	}
	return r, nil
}

// key returns the key of a record in its partition.
func (at keyPlace) key(orgAndKey []byte) []byte {
	if at.position == 0 {
		return orgAndKey
	}
	return numberKey(uint64(at.position))
}

// AddIdempotencyRecord assumes that the key is unused, as its caller has checked,
// or used only by an expired record.
func (t *tx) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	number := partitionOf(r.FirstUse)
	partition, err := t.partition(number)
	if err != nil {
		return storageFault(err)
	}
	key := orgKey(r.OrgID, r.Key)
	if position := t.s.keys.add(number, partition, t.s.keys.hash(key)); position > 0 {
		partition.FillPercent = fillPercent
		key = numberKey(uint64(position))
	}
	return t.insert(partition, key, rows.Encode(codec.IdempotencyRecord, r))
}

func (t *tx) partition(number uint64) (*bbolt.Bucket, error) {
	b, name := t.bucket(bucketIdempotency), numberKey(number)
	if partition := b.Bucket(name); partition != nil {
		return partition, nil
	}
	return b.CreateBucket(name)
}

// ExpireIdempotencyRecords empties the oldest fully expired partition, and drops
// empty ones.
func (t *tx) ExpireIdempotencyRecords(limit int) (int, error) {
	if limit < 1 {
		return 0, nil
	}
	b := t.bucket(bucketIdempotency)
	for _, name := range t.expiredPartitions(b) {
		if keys := firstKeys(b.Bucket(name), nil, limit); len(keys) > 0 {
			return t.dropKeys(b.Bucket(name), keys)
		}
		if len(t.undo) > 0 { // a rollback may still need the bucket
			continue
		}
		if err := b.DeleteBucket(name); err != nil {
			return 0, storageFault(err)
		}
		t.s.keys.drop(partitionNumber(name)) // whatever comes of the commit: it holds nothing that counts
		t.dropped = true
	}
	return 0, nil
}

// IdempotencyKeys goes through the partitions. A record seen is the number of its
// partition and its key there.
func (t *tx) IdempotencyKeys(orgID, after string, limit int) (keys []string, last string, err error) {
	b, prefix := t.bolt.Bucket(bucketIdempotency), orgKey(orgID, "")
	partitions, seen := b.Cursor(), 0
	var k []byte
	for name, _ := partitions.Seek([]byte(after)[:min(len(after), 8)]); name != nil; name, _ = partitions.Next() {
		partition := b.Bucket(name).Cursor()
		key, record := partition.First()
		if from, ok := strings.CutPrefix(after, string(name)); ok {
			if key, record = partition.Seek([]byte(from)); string(key) == from {
				key, record = partition.Next()
			}
		}
		for ; key != nil; key, record = partition.Next() {
			if seen == limit {
				return keys, last, nil
			}
			if k = keyOf(record, k[:0]); k == nil {
				return nil, "", storageFault(rows.ErrRecord)
			}
			if bytes.HasPrefix(k, prefix) {
				keys = append(keys, string(k[len(prefix):]))
			}
			last = string(name) + string(key)
			seen++
		}
	}
	return keys, "", nil
}

// DeleteIdempotencyRecord gives up while the index is being read, as
// IdempotencyRecord does.
func (t *tx) DeleteIdempotencyRecord(orgID, key string) error {
	k := orgKey(orgID, key)
	places, all := t.s.keys.find(t.s.keys.hash(k), 0, nil)
	for _, at := range places {
		r, err := t.recordAt(at, k)
		if err != nil {
			return storageFault(err)
		}
		if r.OrgID != orgID || r.Key != key {
			continue
		}
		if err := t.delete(t.bucket(bucketIdempotency).Bucket(numberKey(at.partition)), at.key(k)); err != nil {
			return err
		}
	}
	if !all {
		t.unread = true
		return errUnread
	}
	return nil
}

func (t *tx) expiredPartitions(b *bbolt.Bucket) (names [][]byte) {
	end := partitionOf(t.now.Add(-store.IdempotencyTTL))
	c := b.Cursor()
	for name, _ := c.First(); name != nil && partitionNumber(name) < end; name, _ = c.Next() {
		names = append(names, bytes.Clone(name))
	}
	return names
}

// idempotency checks the form of the partitions and of the records in them.
func (c *checker) idempotency() {
	partitions := c.bolt.Bucket(bucketIdempotency)
	c.each(bucketIdempotency, func(name, _ []byte) {
		partition := partitions.Bucket(name)
		if partition == nil || len(name) != 8 {
			c.fault("idempotency %q: is not a partition", name)
			return
		}
		c.eachOf(partition, func(key, record []byte) {
			r := readRecord(c, bucketIdempotency, key, record, codec.IdempotencyRecord)
			if _, ok := positionOf(key); !ok && string(key) != string(orgKey(r.OrgID, r.Key)) {
				c.fault("idempotency %q: holds the record of %q", key, orgKey(r.OrgID, r.Key))
			}
		})
	})
}
