package boltstore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// notCleared are the buckets that Clear leaves as they are.
var notCleared = [][]byte{bucketMeta, []byte("certificates")}

var errNotForTests = errors.New("the data file was not opened for tests, and only theirs is cleared")

// Clear deletes all records but the certificates and one operator token.
func (s *Store) Clear(ctx context.Context, tokenID string) error {
	if !s.tests {
		return errNotForTests
	}
	return s.Update(ctx, store.All, func(u store.Tx) error {
		t := ownTx(u)
		if err := t.writeCounts(); err != nil { // of updates that share the commit
			return err
		}
		t.Touched, t.Retyped = true, true
		for _, name := range buckets {
			if slices.ContainsFunc(notCleared, func(k []byte) bool { return bytes.Equal(k, name) }) {
				continue
			}
			var kept []byte
			if bytes.Equal(name, []byte("operatorTokens")) {
				kept = []byte(tokenID)
			}
			if err := t.clear(t.bucket(name), kept); err != nil {
				return err
			}
		}
		return nil
	})
}

// clear empties a bucket but for one key. The buckets in it stay: they are partitions of rows
// that expire, which Expire drops, and the index that has them is not read again.
func (t *tx) clear(b *bbolt.Bucket, kept []byte) error {
	var keys [][]byte
	c := b.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		switch {
		case value == nil:
			if err := t.clear(b.Bucket(key), nil); err != nil {
				return err
			}
		case !bytes.Equal(key, kept):
			keys = append(keys, bytes.Clone(key))
		}
	}
	for _, key := range keys {
		if err := t.delete(b, key); err != nil {
			return err
		}
	}
	return nil
}
