package boltstore

import (
	"fmt"
	"testing"

	"teamdata/store"
)

// TestLastBeforeWhatWasDeleted: the end of a list is found in a commit that has deleted
// all keys of the pages behind it.
func TestLastBeforeWhatWasDeleted(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	const n = 1000
	keyOf := func(org string, i int) []byte {
		return listKey(org, store.Cursor{Ms: uint64(i), ID: fmt.Sprintf("aud_%04d", i)})
	}
	f.update(func(u store.Tx) error {
		for _, org := range []string{"org_a", "org_b", "org_c"} {
			for i := range n {
				must(t, u.(*tx).insert(u.(*tx).bucket(bucketAuditLog), keyOf(org, i), []byte("{}")))
			}
		}
		return nil
	})
	f.update(func(u store.Tx) error {
		b := u.(*tx).bucket(bucketAuditLog)
		for i := range n {
			must(t, u.(*tx).delete(b, keyOf("org_b", i)))
		}
		for org, want := range map[string]uint64{"org_a": n - 1, "org_b": 0, "org_c": n - 1} {
			if last := u.(*tx).lastPosition(b, org); last.Ms != want {
				t.Errorf("the last position of %s is %v", org, last)
			}
		}
		return nil
	})
}
