package boltstore

import (
	"bytes"
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// partitionSpan is how much time one partition of the idempotency records
// covers. The keys are the clients' and fall anywhere, so a partition's tree is
// written at random; a shorter span makes smaller trees, and more of them to
// look into: IdempotencyTTL / partitionSpan + 1.
const partitionSpan = 6 * time.Hour

func partitionOf(at time.Time) uint64 {
	return uint64(at.UnixMilli()) / uint64(partitionSpan.Milliseconds())
}

func (t *tx) IdempotencyRecord(orgID, key string) (store.IdempotencyRecord, error) {
	oldest := t.now.Add(-store.IdempotencyTTL)
	k := orgKey(orgID, key)
	b := t.bolt.Bucket(bucketIdempotency)
	for n := partitionOf(t.now); n >= partitionOf(oldest); n-- {
		partition := b.Bucket(numberKey(n))
		if partition == nil {
			continue
		}
		record := partition.Get(k)
		if record == nil {
			continue
		}
		var r store.IdempotencyRecord
		if err := decode(record, idempotencyFields(&r)); err != nil {
			return store.IdempotencyRecord{}, storageFault(err)
		}
		if r.FirstUse.After(oldest) {
			return r, nil
		}
	}
	return store.IdempotencyRecord{}, store.Errorf(store.CodeNotFound, "The Idempotency-Key was not used.")
}

func (t *tx) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	b, err := t.bucket(bucketIdempotency).CreateBucketIfNotExists(numberKey(partitionOf(r.FirstUse)))
	if err != nil {
		return storageFault(err)
	}
	return t.put(b, orgKey(r.OrgID, r.Key), encode(idempotencyFields(&r)))
}

// ExpireIdempotencyRecords empties the oldest partition if all of it has
// expired, and drops it once it is empty.
func (t *tx) ExpireIdempotencyRecords(limit int) (int, error) {
	b := t.bucket(bucketIdempotency)
	name, _ := b.Cursor().First()
	if name == nil || binary.BigEndian.Uint64(name) >= partitionOf(t.now.Add(-store.IdempotencyTTL)) {
		return 0, nil
	}
	keys := firstKeys(b.Bucket(name), limit)
	for _, key := range keys {
		if err := t.delete(b.Bucket(name), key); err != nil {
			return 0, err
		}
	}
	if len(keys) == 0 && len(t.undo) == 0 { // an undo may still need the bucket
		return 0, storageFault(b.DeleteBucket(name))
	}
	return len(keys), nil
}

func firstKeys(b *bbolt.Bucket, limit int) [][]byte {
	var keys [][]byte
	c := b.Cursor()
	for key, _ := c.First(); key != nil && len(keys) < limit; key, _ = c.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}
