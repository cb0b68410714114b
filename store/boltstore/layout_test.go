package boltstore

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"teamdata/store"
)

// cursors in their order.
var cursors = []store.Cursor{
	{},
	{Ms: 0, ID: "\x00"},
	{Ms: 0, ID: "a"},
	{Ms: 0, ID: "ab"},
	{Ms: 0, ID: "b"},
	{Ms: 1, ID: "a"},
	{Ms: 255, ID: "z"},
	{Ms: 256, ID: "a"},
	{Ms: 1 << 32, ID: "a"},
	{Ms: 1<<32 + 1, ID: "\x00"},
	{Ms: 999_999_999_999_999, ID: "é\xff"},
	{Ms: math.MaxUint64, ID: strings.Repeat("\xff", 64)},
}

func TestListKeys(t *testing.T) {
	var keys [][]byte
	for i, c := range cursors {
		key := listKey("org_1", c)
		if back := cursorOf("org_1", key); back != c {
			t.Errorf("%v is read back as %v", c, back)
		}
		if i > 0 && c.Compare(cursors[i-1]) <= 0 {
			t.Errorf("%v does not follow %v", c, cursors[i-1])
		}
		keys = append(keys, key)
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Error("the order of the keys is not that of the cursors")
	}
}

// TestOrgRanges: all keys of an org, and no other's, lie between its bounds.
func TestOrgRanges(t *testing.T) {
	orgs := []string{"a", "a-", "a0", "aa", "b"} // each id a prefix of another, and what sorts around it
	for _, org := range orgs {
		for _, other := range orgs {
			for _, c := range cursors {
				key := listKey(other, c)
				within := bytes.Compare(key, orgKey(org, "")) >= 0 && bytes.Compare(key, orgEnd(org)) < 0
				if within != (org == other) || within != bytes.HasPrefix(key, orgKey(org, "")) {
					t.Errorf("%v of %s within the range of %s: %v", c, other, org, within)
				}
			}
		}
	}
}

func TestPlaceKeys(t *testing.T) {
	var keys [][]byte
	for _, endpoint := range []uint64{0, 1, 255, 256, 1 << 40, math.MaxUint64} {
		for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
			for _, c := range cursors {
				key := placeKey(endpoint, list, c)
				if e, l, at := readPlaceKey(key); e != endpoint || l != list || at != c {
					t.Errorf("%d %d %v is read back as %d %d %v", endpoint, list, c, e, l, at)
				}
				if !bytes.HasPrefix(key, listStart(endpoint, list)) {
					t.Errorf("%d %d %v is not in its list's range", endpoint, list, c)
				}
				keys = append(keys, key)
			}
		}
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Error("the order of the keys is not that of (endpoint, list, ms, id)")
	}
}

func TestBucketsAreAllNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range buckets {
		if seen[string(name)] {
			t.Errorf("%s is there twice", name)
		}
		seen[string(name)] = true
	}
	f := newFixture(t, Options{NoSync: true})
	for name := range f.topBuckets() {
		if !seen[name] {
			t.Errorf("%s is in the file and not in the list", name)
		}
		delete(seen, name)
	}
	for name := range seen {
		t.Errorf("%s is not in the file", name)
	}
}
