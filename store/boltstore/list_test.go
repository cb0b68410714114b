package boltstore

import (
	"bytes"
	"fmt"
	"testing"

	"teamdata/store"
	"teamdata/store/rows"
)

// TestLastBeforeWhatWasDeleted: the end of a list is found in a commit that has deleted
// all keys of the pages behind it.
func TestLastBeforeWhatWasDeleted(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	const n = 1000
	keyOf := func(org string, i int) []byte {
		return append(rows.Number(rows.Part(nil, org), uint64(i)), fmt.Sprintf("aud_%04d", i)...)
	}
	f.update(func(u store.Tx) error {
		for _, org := range []string{"org_a", "org_b", "org_c"} {
			for i := range n {
				must(t, ownTx(u).replace(ownTx(u).bucket([]byte("auditLog")), keyOf(org, i), nil, []byte("{}")))
			}
		}
		return nil
	})
	f.update(func(u store.Tx) error {
		b := ownTx(u).bucket([]byte("auditLog"))
		for i := range n {
			must(t, ownTx(u).delete(b, keyOf("org_b", i)))
		}
		for org, want := range map[string][]byte{"org_a": keyOf("org_a", n-1), "org_b": nil, "org_c": keyOf("org_c", n-1)} {
			last, err := ownTx(u).Last(rows.Named("auditLog"), rows.ByKey, rows.Part(nil, org))
			if must(t, err); !bytes.Equal(last, want) {
				t.Errorf("the last key of %s is %q", org, last)
			}
		}
		return nil
	})
}
