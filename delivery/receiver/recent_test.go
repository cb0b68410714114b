package receiver

import (
	"fmt"
	"testing"
)

// The latest ids are known, those before them are forgotten, and memory holds
// no more than that.
func TestRecent(t *testing.T) {
	var r recent
	const more = maxRecent/2 + 1
	for i := range maxRecent + more {
		if r.add(fmt.Sprint(i)) {
			t.Fatalf("%d was known", i)
		}
	}
	if len(r.known) != maxRecent || len(r.order) != maxRecent {
		t.Errorf("%d and %d are kept", len(r.known), len(r.order))
	}
	for i := more; i < maxRecent+more; i++ {
		if !r.add(fmt.Sprint(i)) {
			t.Fatalf("%d was forgotten", i)
		}
	}
	if r.add("0") {
		t.Error("the first is known")
	}
}
