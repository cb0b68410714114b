package boltstore

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"

	"teamdata/store/rows"
)

// sortedKeys is how many keys of a kind with a Span are sorted at a time: they are stored
// as they came.
var sortedKeys = 1 << 17

// keptKey is a key, and where its row is.
type keptKey struct{ key, partition, place []byte }

// scanExpiring goes through all rows of the kind for each part of the range that is sorted.
func (t *tx) scanExpiring(k *rows.Kind, r rows.Range, fn func(rows.Item) bool) error {
	b := t.of(k, rows.ByKey)
	if b == nil {
		return nil
	}
	for left := r.Limit; ; left -= sortedKeys {
		part := sortedKeys
		if r.Limit > 0 {
			part = min(part, left)
		}
		keys, err := keysIn(b, k, r, part)
		if err != nil {
			return storageFault(err)
		}
		for _, kept := range keys {
			if !fn(rows.Item{Key: kept.key, Value: b.Bucket(kept.partition).Get(kept.place)}) {
				return nil
			}
		}
		if len(keys) < part || part == left {
			return nil
		}
		if last := keys[len(keys)-1].key; r.Back {
			r.To = last
		} else {
			r.From = append(bytes.Clone(last), 0)
		}
	}
}

// keysIn returns the first keys in a range, each with its row that was written last: one
// that has expired may still be there, in a partition before.
func keysIn(b *bbolt.Bucket, k *rows.Kind, r rows.Range, limit int) (keys []keptKey, err error) {
	var key []byte
	kept := max(limit, minSorted)
	err = b.ForEachBucket(func(partition []byte) error {
		return b.Bucket(partition).ForEach(func(place, value []byte) (err error) {
			if key, err = k.KeyOf(key[:0], value); err != nil {
				return err
			}
			if bytes.Compare(key, r.From) < 0 || r.To != nil && bytes.Compare(key, r.To) >= 0 {
				return nil
			}
			if keys = append(keys, keptKey{bytes.Clone(key), partition, place}); len(keys) < 2*kept {
				return nil
			}
			if keys = firstOfEach(keys, r.Back, kept); len(keys) < kept {
				return nil
			}
			if last := keys[kept-1].key; r.Back {
				r.From = last
			} else {
				r.To = append(bytes.Clone(last), 0)
			}
			return nil
		})
	})
	return firstOfEach(keys, r.Back, limit), err
}

// minSorted is how many keys are sorted together at least, or a range of one would sort
// again with each key.
const minSorted = 100

// firstOfEach sorts keys and returns the first of them, each once, at its last place.
func firstOfEach(keys []keptKey, back bool, limit int) []keptKey {
	slices.SortStableFunc(keys, func(a, b keptKey) int {
		if back {
			a, b = b, a
		}
		return bytes.Compare(a.key, b.key)
	})
	n := 0
	for i, k := range keys {
		if i+1 == len(keys) || !bytes.Equal(keys[i+1].key, k.key) {
			keys[n] = k
			n++
		}
	}
	return keys[:min(n, limit)]
}
