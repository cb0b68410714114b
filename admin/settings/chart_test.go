package settings

import (
	"fmt"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// The bars stand on the ground, the unsuccessful part on top, and the highest fills the
// height. Where nothing was sent is a line.
func TestSpark(t *testing.T) {
	s := newTimeSeries(kit.Noon, time.Hour, 3, time.UTC)
	s.add(kit.Noon, store.DeliveryCounts{Acknowledged: 6, Retrying: 2, Failed: 1})
	s.add(kit.Noon.Add(-time.Hour), store.DeliveryCounts{Acknowledged: 3})
	want := []sparkMarks{{"none", "M0 17h3v1h-3z"}, {"ok-mark", "M4 12h3v6h-3zM8 6h3v12h-3z"}, {"bad-mark", "M8 0h3v6h-3z"}}
	if got := s.Spark(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
