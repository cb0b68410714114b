package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// attemptBuckets are in seconds, up to twice the default timeout of an attempt.
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

// Attempted counts an attempt with an outcome, to an endpoint of an org.
func (m *Metrics) Attempted(org, endpoint, outcome string, took time.Duration) {
	a := &m.attempts
	if c := a.outcomes[outcome]; c != nil {
		c.Inc()
	}
	a.took.Observe(took.Seconds())
	if outcome != a.acknowledged {
		a.failures.count(endpointID{org, endpoint})
	}
}

const (
	maxTracked = 1000 // endpoints whose failures are counted
	maxShown   = 20   // of those, the ones in a scrape
)

// failures counts the attempts that were not acknowledged, by endpoint. When there is
// no room for another endpoint, the one with the fewest is dropped.
type failures struct {
	mu sync.Mutex
	by map[endpointID]uint64
}

type endpointID struct{ org, id string }

func (f *failures) count(endpoint endpointID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = make(map[endpointID]uint64)
	}
	if _, known := f.by[endpoint]; !known && len(f.by) >= maxTracked {
		f.dropFewest()
	}
	f.by[endpoint]++
}

func (f *failures) dropFewest() {
	var fewest endpointID
	least := ^uint64(0)
	for endpoint, n := range f.by {
		if n < least {
			fewest, least = endpoint, n
		}
	}
	delete(f.by, fewest)
}

// Describe sends nothing: which metrics there are changes from scrape to scrape.
func (f *failures) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of the endpoints with the most failures to the registry.
func (f *failures) Collect(out chan<- prometheus.Metric) {
	f.mu.Lock()
	by := maps.Clone(f.by)
	f.mu.Unlock()
	worst := slices.SortedFunc(maps.Keys(by), func(a, b endpointID) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a.org, b.org), cmp.Compare(a.id, b.id))
	})
	for _, endpoint := range worst[:min(len(worst), maxShown)] {
		out <- constant("teamdata_endpoint_failures_total", float64(by[endpoint]), endpoint.org, endpoint.id)
	}
}
