package store

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"teamdata/store/rows"
)

// cursors in their order.
var cursors = []Cursor{
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
		key := position(nil, "org_1", c)
		if back := positionOf("org_1", key); back != c {
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
				key := position(nil, other, c)
				b := rows.Below(org, "")
				within := bytes.Compare(key, b.From) >= 0 && bytes.Compare(key, b.To) < 0
				if within != (org == other) || within != bytes.HasPrefix(key, rows.Part(nil, org)) {
					t.Errorf("%v of %s within the range of %s: %v", c, other, org, within)
				}
			}
		}
	}
}
