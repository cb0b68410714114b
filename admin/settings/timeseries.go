package settings

import (
	"strings"
	"time"

	"teamdata/store"
)

// point is a step of a time series, and how the attempts that ended in it came out.
type point struct {
	From time.Time
	store.DeliveryCounts
}

// Total is how many attempts ended.
func (p point) Total() int { return p.Acknowledged + p.Unsuccessful() }

// Unsuccessful is how many of them were not acknowledged.
func (p point) Unsuccessful() int { return p.Retrying + p.Failed }

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

// formatLatency formats a class of latency, such as ≤ 250 ms.
func formatLatency(class int) string {
	last := len(store.LatencyBounds) - 1
	switch {
	case class < 0:
		return "–"
	case class > last:
		return "> " + formatBound(last)
	}
	return "≤ " + formatBound(class)
}

// formatBound formats the upper bound of a class of latency.
func formatBound(class int) string {
	return strings.NewReplacer("ms", " ms", "s", " s").Replace(store.LatencyBounds[class].String())
}

// span is a range of time that a page can show.
type span struct {
	Key, Text string
	Step      time.Duration
	steps     int
	Since     string // the range, in words
}

// spans are the ranges in the order of the switch.
var spans = []span{
	{"1h", "1 h", 5 * time.Minute, 12, "hour"},
	{"24h", "24 h", time.Hour, 24, "24 hours"},
	{"7d", "7 d", 6 * time.Hour, 28, "7 days"},
	{"30d", "30 d", 24 * time.Hour, 30, "30 days"},
}

// spanOf is the range that a page's query asks for; 24 hours, unless it is one of
// spans.
func (r *request) spanOf() span {
	for _, s := range spans {
		if s.Key == r.HTTP.URL.Query().Get("range") {
			return s
		}
	}
	return spans[1]
}

// timeSeries are the steps up to now, oldest first. Their times are in a zone.
type timeSeries struct {
	Points []point
	step   time.Duration
	zone   *time.Location
}

// newTimeSeries covers the last n steps, including the current one. Days and parts of days
// begin at midnight of the zone, as far as that is at a full hour.
func newTimeSeries(now time.Time, step time.Duration, n int, zone *time.Location) timeSeries {
	s := timeSeries{step: step, zone: zone}
	_, seconds := now.In(zone).Zone()
	offset := (time.Duration(seconds) * time.Second).Truncate(time.Hour)
	last := now.UTC().Add(offset).Truncate(step).Add(-offset)
	for i := range n {
		s.Points = append(s.Points, point{From: last.Add(time.Duration(i-n+1) * step)})
	}
	return s
}

// Label formats the time of a point.
func (s timeSeries) Label(p point) string {
	from := p.From.In(s.zone)
	if s.step >= 24*time.Hour {
		return from.Format("2 Jan 2006")
	}
	return from.Format("2 Jan, 15:04")
}

// add adds the counts of a time; one outside of the series is left out.
func (s timeSeries) add(at time.Time, c store.DeliveryCounts) {
	if i, ok := s.place(at); ok {
		s.Points[i].Add(c)
	}
}

// place is the point that a time is in; false: it is outside of the series.
func (s timeSeries) place(at time.Time) (i int, ok bool) {
	i = int(at.Sub(s.Points[0].From) / s.step)
	return i, !at.Before(s.Points[0].From) && i < len(s.Points)
}

// sum is the sum of all points.
func (s timeSeries) sum() (all point) {
	for _, p := range s.Points {
		all.Add(p.DeliveryCounts)
	}
	return all
}

// maxHistoric is how many deliveries are read at most to show the last hour by
// minutes, since counts are kept by the hour.
const maxHistoric = 500

// series finds the attempts of a range on some endpoints of the org; nil: on all that
// it has counts of. Where the last hour had too many, it shows the counts of this hour
// and the one before.
func (r *request) series(tx store.Tx, sp span, endpoints []uint64) (timeSeries, error) {
	if sp.Step < time.Hour {
		s, whole, err := r.lastHour(tx, sp, endpoints)
		if whole || err != nil {
			return s, err
		}
		sp.Step, sp.steps = time.Hour, 2
	}
	s := newTimeSeries(r.Now, sp.Step, sp.steps, r.zone())
	wanted := map[uint64]bool{}
	for _, number := range endpoints {
		wanted[number] = true
	}
	err := tx.EachDeliveryCounts(r.Org.ID, s.Points[0].From, func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
		if wanted[endpoint] {
			s.add(hour, c)
		}
	})
	return s, err
}

// lastHour counts the attempts of the latest deliveries. whole is false if there are
// too many.
func (r *request) lastHour(tx store.Tx, sp span, endpoints []uint64) (s timeSeries, whole bool, err error) {
	s = newTimeSeries(r.Now, sp.Step, sp.steps, r.zone())
	latest, err := tx.LatestDeliveries(endpoints, attemptedLists, store.Cursor{}, maxHistoric)
	for i := range latest {
		if latest[i].ShownAt().Before(s.Points[0].From) {
			return s, true, err
		}
		for _, a := range latest[i].History {
			s.add(a.EndedAt, a.Counts())
		}
	}
	return s, len(latest) < maxHistoric, err
}
