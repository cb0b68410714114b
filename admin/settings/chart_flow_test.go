package settings

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// What waits at most in each step is counted over what comes and goes within it.
func TestFlow(t *testing.T) {
	f := flow{newTimeSeries(kit.Noon, time.Hour, 4, time.UTC), make([]int, 4), nil} // from 9 o'clock
	at := func(hours float64) time.Time {
		return kit.Noon.Add(time.Duration((hours - 12) * float64(time.Hour)))
	}
	for _, p := range []struct{ from, to float64 }{{7, 9.5}, {8, 8.5}, {9.2, 9.4}, {9.3, 11.5}, {11.1, 11.2}, {11.3, 0}} {
		passage := store.Passage{MadeAt: at(p.from), Acknowledged: p.from != 11.1}
		if p.to > 0 {
			passage.FinishedAt = at(p.to)
		}
		f.add(passage)
	}
	var acknowledged []int
	for _, p := range f.Points {
		acknowledged = append(acknowledged, p.Acknowledged)
	}
	if got, want := fmt.Sprint(f.received, acknowledged, f.waiting()), "[2 0 2 0] [2 0 1 0] [3 1 2 1]"; got != want {
		t.Errorf("received, acknowledged and waiting are %s, not %s", got, want)
	}
	c := f.receivedChart(spans[1])
	if marks := c.Bins[0].Marks; len(marks) != 2 || marks[0].Class != "in-mark" || c.Bins[3].Marks != nil || !slices.Equal(c.Rows[2], []string{"2", "1"}) {
		t.Errorf("the chart is %+v", c)
	}
}
