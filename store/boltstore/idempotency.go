package boltstore

import (
	"bytes"
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// partitionSpan is the time span of one partition of the idempotency records.
// Clients choose the keys, so inserts are spread over a partition's tree; a
// shorter span makes smaller trees, but more to search: IdempotencyTTL /
// partitionSpan + 1.
const partitionSpan = 6 * time.Hour

func partitionOf(at time.Time) uint64 {
	return uint64(max(at.UnixMilli(), 0) / partitionSpan.Milliseconds())
}

func partitionNumber(name []byte) uint64 { return binary.BigEndian.Uint64(name) }

func idempotencyFields(c *codec, r *store.IdempotencyRecord) {
	c.text(&r.OrgID)
	c.text(&r.Key)
	c.hash((*[32]byte)(&r.Fingerprint))
	c.time(&r.FirstUse)
	c.int(&r.Answer.Status)
	c.text(&r.Answer.ContentType)
	c.bytes(&r.Answer.Body)
}

func (t *tx) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	oldest := t.now.Add(-store.IdempotencyTTL)
	k := orgKey(orgID, key)
	b := t.bolt.Bucket(bucketIdempotency)
	c := b.Cursor()
	// From the last partition, not the current one: the clock may have stepped back.
	for name, _ := c.Last(); name != nil && partitionNumber(name) >= partitionOf(oldest); name, _ = c.Prev() {
		record := b.Bucket(name).Get(k)
		if record == nil {
			continue
		}
		r, err := decode(record, idempotencyFields)
		if err != nil {
			return store.IdempotencyRecord{}, storageFault(err)
		}
		if r.FirstUse.After(oldest) {
			return r, nil
		}
	}
	return store.IdempotencyRecord{}, store.Errorf(store.CodeNotFound, "The Idempotency-Key was not used.")
}

// AddIdempotencyRecord assumes that the key is unused, as its caller has checked:
// at most it replaces an expired record.
func (t *tx) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	partition, err := t.partition(partitionOf(r.FirstUse))
	if err != nil {
		return storageFault(err)
	}
	return t.insert(partition, orgKey(r.OrgID, r.Key), encode(idempotencyFields, r))
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
		keys := firstKeys(b.Bucket(name), limit)
		for _, key := range keys {
			if err := t.delete(b.Bucket(name), key); err != nil {
				return 0, err
			}
		}
		if len(keys) > 0 {
			return len(keys), nil
		}
		if len(t.undo) > 0 { // a rollback may still need the bucket
			continue
		}
		if err := b.DeleteBucket(name); err != nil {
			return 0, storageFault(err)
		}
		t.dropped = true
	}
	return 0, nil
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
		eachOf(partition, func(key, record []byte) {
			readRecord(c, bucketIdempotency, key, record, idempotencyFields)
		})
	})
}
