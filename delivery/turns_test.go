package delivery

import (
	"slices"
	"testing"
)

// Orgs take turns, and within each its lanes, whatever their number.
func TestTurns(t *testing.T) {
	var turns turns
	for _, l := range []lane{{endpoint: 1, org: "a"}, {endpoint: 2, org: "a"}, {endpoint: 3, org: "a"}, {endpoint: 4, org: "b"}, {endpoint: 5, org: "c"}, {endpoint: 6, org: "c"}} {
		turns.push(&l)
	}
	var got []uint64
	for range 4 {
		got = append(got, turns.pop().endpoint)
	}
	turns.push(&lane{endpoint: 7, org: "b"})
	for !turns.empty() {
		got = append(got, turns.pop().endpoint)
	}
	if want := []uint64{1, 4, 5, 2, 6, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("the turns come as %v, not %v", got, want)
	}
}
