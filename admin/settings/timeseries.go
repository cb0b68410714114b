package settings

import (
	"strings"
	"time"

	"teamdata/store"
)

// point is an hour or a day, and how the attempts that ended in it came out.
type point struct {
	From time.Time
	store.DeliveryCounts
}

// Total is how many attempts ended.
func (p point) Total() int { return p.Acknowledged + p.Retrying + p.Failed }

// latencyClass is the lowest class of latency that a percentage of the
// acknowledged attempts did not exceed: an index into store.LatencyBounds, or the
// one after its end. -1: nothing was acknowledged.
func (p point) latencyClass(percent int) int {
	rest := (p.Acknowledged*percent + 99) / 100
	for class, n := range p.Latency {
		if rest -= n; rest <= 0 && p.Acknowledged > 0 {
			return class
		}
	}
	return -1
}

// P50 and P95 are latencies for people, to the bound of their class.
func (p point) P50() string { return formatLatency(p.latencyClass(50)) }
func (p point) P95() string { return formatLatency(p.latencyClass(95)) }

func formatLatency(class int) string {
	if class < 0 {
		return "–"
	}
	return formatClass(class)
}

// formatClass formats a class of latency, such as ≤ 250 ms.
func formatClass(class int) string {
	units := strings.NewReplacer("ms", " ms", "s", " s")
	if last := len(store.LatencyBounds) - 1; class > last {
		return "> " + units.Replace(store.LatencyBounds[last].String())
	}
	return "≤ " + units.Replace(store.LatencyBounds[class].String())
}

// timeSeries are the hours or days up to now, in UTC, oldest first.
type timeSeries struct {
	Points []point
	step   time.Duration
}

// newTimeSeries covers the last n steps, of which the last is still running.
func newTimeSeries(now time.Time, step time.Duration, n int) timeSeries {
	s := timeSeries{step: step}
	first := now.UTC().Truncate(step).Add(-time.Duration(n-1) * step)
	for i := range n {
		s.Points = append(s.Points, point{From: first.Add(time.Duration(i) * step)})
	}
	return s
}

// Label formats the time of a point, in UTC.
func (s timeSeries) Label(p point) string {
	if s.step > time.Hour {
		return p.From.Format("2 Jan 2006")
	}
	return p.From.Format("2 Jan 2006, 15:04")
}

// add adds the counts of an hour; an hour outside of the series is left out.
func (s timeSeries) add(hour time.Time, c store.DeliveryCounts) {
	if i := int(hour.Sub(s.Points[0].From) / s.step); !hour.Before(s.Points[0].From) && i < len(s.Points) {
		s.Points[i].Add(c)
	}
}
