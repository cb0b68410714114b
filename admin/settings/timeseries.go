package settings

import (
	"strings"
	"time"

	"teamdata/store"
)

// span is an hour or a day, and what became of the attempts that ended in it.
type span struct {
	From time.Time
	store.DeliveryCounts
}

// Total is how many attempts ended.
func (s span) Total() int { return s.Acknowledged + s.Retrying + s.Failed }

// latencyClass is the class of the latency that a share of the acknowledged
// attempts kept to: its place in store.LatencyBounds, or behind them. -1: nothing
// was acknowledged.
func (s span) latencyClass(percent int) int {
	rest := (s.Acknowledged*percent + 99) / 100
	for class, n := range s.Latency {
		if rest -= n; rest <= 0 && s.Acknowledged > 0 {
			return class
		}
	}
	return -1
}

// P50 and P95 are latencies for people, to the bound of their class.
func (s span) P50() string { return latencyText(s.latencyClass(50)) }
func (s span) P95() string { return latencyText(s.latencyClass(95)) }

func latencyText(class int) string {
	if class < 0 {
		return "–"
	}
	return classText(class)
}

// classText is a class of latency as people write it, such as ≤ 250 ms.
func classText(class int) string {
	units := strings.NewReplacer("ms", " ms", "s", " s")
	if last := len(store.LatencyBounds) - 1; class > last {
		return "> " + units.Replace(store.LatencyBounds[last].String())
	}
	return "≤ " + units.Replace(store.LatencyBounds[class].String())
}

// spans are the hours or days up to now, oldest first. They are in UTC.
type spans struct {
	each time.Duration
	list []span
}

// spansTo are the last n spans, and the one that runs is the last of them.
func spansTo(now time.Time, each time.Duration, n int) spans {
	s := spans{each: each}
	first := now.UTC().Truncate(each).Add(-time.Duration(n-1) * each)
	for i := range n {
		s.list = append(s.list, span{From: first.Add(time.Duration(i) * each)})
	}
	return s
}

// All are the spans, for the page.
func (s spans) All() []span { return s.list }

// Text is when one of the spans is, for people, in UTC.
func (s spans) Text(sp span) string {
	if s.each > time.Hour {
		return sp.From.Format("2 Jan 2006")
	}
	return sp.From.Format("2 Jan 2006, 15:04")
}

// add adds counts of an hour; those of another time are left out.
func (s spans) add(hour time.Time, c store.DeliveryCounts) {
	if i := int(hour.Sub(s.list[0].From) / s.each); !hour.Before(s.list[0].From) && i < len(s.list) {
		s.list[i].Add(c)
	}
}
