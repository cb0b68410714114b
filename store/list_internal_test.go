package store

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestPlaceKeys(t *testing.T) {
	var keys [][]byte
	for _, endpoint := range []uint64{0, 1, 255, 256, 1 << 40, math.MaxUint64} {
		for _, list := range []DeliveryList{ListAcknowledged, ListWaiting, ListFailed} {
			for _, c := range cursors {
				key := placeKey(nil, endpoint, list, c)
				if at := PositionOf(key); at != c {
					t.Errorf("%d %d %v is read back as %v", endpoint, list, c, at)
				}
				b := listOf(endpoint, list).Bounds
				if bytes.Compare(key, b.From) < 0 || bytes.Compare(key, b.To) >= 0 {
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

// TestPlaceInRecord: the entries that the head of a delivery's record gives are the
// delivery's, and a damaged head is noticed.
func TestPlaceInRecord(t *testing.T) {
	var tx rows.Tx
	for state := StatePending; state <= StateFailed; state++ {
		for attempts := range 4 {
			at := time.UnixMilli(1790000000123)
			d := Delivery{ID: "whd_1", EventID: strings.Repeat("é", 3000), OrgID: "org_1", EndpointNumber: math.MaxUint64, State: state, Attempts: 7,
				DueAt: at, FinishedAt: MaxTime, EventType: "member.added", History: make([]Attempt, attempts)}
			for i := range d.History {
				d.History[i] = Attempt{StartedAt: at.Add(time.Duration(i) * time.Minute), Reason: "it answered 500", Answer: []byte("oh")}
				d.History[i].EndedAt = d.History[i].StartedAt.Add(time.Duration(i)*time.Second + time.Microsecond)
			}
			value := rows.Encode(deliveries.Fields, deliveryRow{[]byte("body"), d})
			var head, whole rows.Entries
			errHead, errWhole := deliveries.Entries(&tx, []byte(d.ID), value, true, &head), deliveries.Entries(&tx, []byte(d.ID), value, false, &whole)
			for i := range deliveries.By {
				if !bytes.Equal(head[i].Key, whole[i].Key) || (whole[i].Key == nil) != (i == byAttempt && !(attempts > 0 && state.Waiting())) {
					t.Errorf("%s after %d: the key is %q, and of the whole %q", state, attempts, head[i].Key, whole[i].Key)
				}
			}
			if errHead != nil || errWhole != nil {
				t.Error(errHead, errWhole)
			}
		}
	}
	if err := deliveries.Entries(&tx, []byte("whd_1"), []byte{5, 'a'}, true, new(rows.Entries)); !errors.Is(err, rows.ErrRecord) {
		t.Errorf("of a damaged record: %v", err)
	}
}
