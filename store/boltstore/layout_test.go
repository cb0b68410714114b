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
