package metrics

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// attemptBuckets are in seconds, up to the longest that an attempt takes unless
// the operator says otherwise.
var attemptBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30}

type attemptMetrics struct {
	outcomes     map[string]prometheus.Counter
	acknowledged string
	took         prometheus.Observer
	failures     failures
}

func (a *attemptMetrics) init(m *Metrics, outcomes []string) {
	a.outcomes = m.counters("teamdata_attempts_total", outcomes)
	a.took = m.histogram("teamdata_attempt_duration_seconds", attemptBuckets)
	a.acknowledged = outcomes[0]
}

// Attempted is told of an attempt.
func (m *Metrics) Attempted(org, endpoint, outcome string, took time.Duration) {
	a := &m.attempts
	if c := a.outcomes[outcome]; c != nil {
		c.Inc()
	}
	a.took.Observe(took.Seconds())
	if outcome != a.acknowledged {
		a.failures.count(failing{org, endpoint})
	}
}

const (
	maxTracked = 1000 // endpoints whose failures are counted
	maxShown   = 20   // of those, the ones that a scrape sees
)

// failures count what was not acknowledged, by endpoint. When there is no room
// for another endpoint, that with the fewest makes way and is counted anew.
type failures struct {
	mu sync.Mutex
	by map[failing]uint64
}

type failing struct{ org, endpoint string }

func (f *failures) count(who failing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = make(map[failing]uint64)
	}
	if _, known := f.by[who]; !known && len(f.by) >= maxTracked {
		f.dropFewest()
	}
	f.by[who]++
}

func (f *failures) dropFewest() {
	var fewest failing
	least := ^uint64(0)
	for who, n := range f.by {
		if n < least {
			fewest, least = who, n
		}
	}
	delete(f.by, fewest)
}

// most are the endpoints with the most failures, the worst first.
func (f *failures) most() (worst []failing, counts []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for who := range f.by {
		worst = append(worst, who)
	}
	slices.SortFunc(worst, func(a, b failing) int {
		return cmp.Or(cmp.Compare(f.by[b], f.by[a]), cmp.Compare(a.org, b.org), cmp.Compare(a.endpoint, b.endpoint))
	})
	worst = worst[:min(len(worst), maxShown)]
	for _, who := range worst {
		counts = append(counts, f.by[who])
	}
	return worst, counts
}

// Describe says nothing: what there is changes from scrape to scrape.
func (f *failures) Describe(chan<- *prometheus.Desc) {}

// Collect is for the registry.
func (f *failures) Collect(out chan<- prometheus.Metric) {
	worst, counts := f.most()
	for i, who := range worst {
		out <- constant("teamdata_endpoint_failures_total", float64(counts[i]), who.org, who.endpoint)
	}
}
