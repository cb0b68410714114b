package settings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"teamdata/store"
)

// flow is what came to an endpoint that is pulled, and what was taken from there.
type flow struct {
	timeSeries
	received []int  // of each point; the points count what was acknowledged
	turns    []turn // in no order
}

// turn is when a delivery began to wait, or was finished.
type turn struct {
	at time.Time
	by int // 1 or -1
}

func (f *flow) add(p store.Passage) {
	f.turns = append(f.turns, turn{p.MadeAt, 1})
	if i, ok := f.place(p.MadeAt); ok {
		f.received[i]++
	}
	if p.FinishedAt.IsZero() {
		return
	}
	f.turns = append(f.turns, turn{p.FinishedAt, -1})
	if i, ok := f.place(p.FinishedAt); ok && p.Acknowledged {
		f.Points[i].Acknowledged++
	}
}

// waiting is how many waited at most in each point, those that were leased included.
func (f *flow) waiting() []int {
	slices.SortFunc(f.turns, func(a, b turn) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(b.by, a.by)) })
	most, now, next := make([]int, len(f.Points)), 0, 0
	for i, p := range f.Points {
		for ; next < len(f.turns) && f.turns[next].at.Before(p.From); next++ {
			now += f.turns[next].by
		}
		most[i] = now
		for end := p.From.Add(f.step); next < len(f.turns) && f.turns[next].at.Before(end); next++ {
			now += f.turns[next].by
			most[i] = max(most[i], now)
		}
	}
	return most
}

// receivedChart draws what came beside what was acknowledged.
func (f *flow) receivedChart(sp span) chart {
	most, sum := 1, 0
	for i, p := range f.Points {
		most, sum = max(most, f.received[i], p.Acknowledged), sum+f.received[i]
	}
	c := newChart("flow", "Received and acknowledged", f.timeSeries, ticks(roundTop(most)))
	c.Legend = []legend{{"in-mark", "Received"}, {"ok-mark", "Acknowledged"}}
	c.Desc = fmt.Sprintf("Deliveries in the last %s: %s received, %s acknowledged", sp.Since, formatCount(sum, false), formatCount(f.sum().Acknowledged, false))
	for i, p := range f.Points {
		c.row(i, ": %s received, %s acknowledged", f.received[i], p.Acknowledged)
		c.bar(i, "in-mark", 0.1, 0.39, f.received[i], roundTop(most))
		c.bar(i, "ok-mark", 0.51, 0.39, p.Acknowledged, roundTop(most))
	}
	return c
}

// waitingChart draws how many waited at most.
func (f *flow) waitingChart(sp span) chart {
	waiting := f.waiting()
	top := roundTop(max(1, slices.Max(waiting)))
	c := newChart("waiting", "Waiting", f.timeSeries, ticks(top))
	c.Legend = []legend{{"ok-mark", "Most at a time"}}
	c.Desc = fmt.Sprintf("Deliveries that were not acknowledged in the last %s, at most: %s", sp.Since, formatCount(slices.Max(waiting), false))
	for i := range f.Points {
		c.row(i, ": at most %s waiting", waiting[i])
		c.bar(i, "ok-mark", 0.14, 0.72, waiting[i], top)
	}
	return c
}
