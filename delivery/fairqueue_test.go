package delivery

import (
	"slices"
	"testing"
)

// Orgs take turns, and within each its endpoints, whatever their number.
func TestFairQueue(t *testing.T) {
	var queue fairQueue
	for _, l := range []endpointQueue{{endpoint: 1, org: "a"}, {endpoint: 2, org: "a"}, {endpoint: 3, org: "a"}, {endpoint: 4, org: "b"}, {endpoint: 5, org: "c"}, {endpoint: 6, org: "c"}} {
		queue.push(&l)
	}
	var got []uint64
	for range 4 {
		got = append(got, queue.pop().endpoint)
	}
	queue.push(&endpointQueue{endpoint: 7, org: "b"})
	for !queue.empty() {
		got = append(got, queue.pop().endpoint)
	}
	if want := []uint64{1, 4, 5, 2, 6, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("the endpoints come as %v, not %v", got, want)
	}
}
