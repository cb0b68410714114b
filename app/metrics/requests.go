package metrics

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestBuckets are in seconds: a page takes less than a millisecond, a commit
// as long as the disk does.
var requestBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// routeMetrics counts the requests of one route. The counter of a status is looked up
// once, when it is first needed.
type routeMetrics struct {
	vec    *prometheus.CounterVec
	route  string
	took   prometheus.Observer
	status [maxStatus]atomic.Pointer[prometheus.Counter]
}

const maxStatus = 600

func (m *Metrics) countRequests(routes []string) {
	total := counters("teamdata_http_requests_total")
	took := histograms("teamdata_http_request_duration_seconds", requestBuckets)
	m.registry.MustRegister(total, took)
	m.routes = make(map[string]*routeMetrics, len(routes))
	for _, route := range routes {
		m.routes[route] = &routeMetrics{vec: total, route: route, took: took.WithLabelValues(route)}
	}
}

// Answered counts a request by the pattern of its route and the status of its
// answer, 0 to 599.
func (m *Metrics) Answered(route string, status int, took time.Duration) {
	r := m.routes[route]
	if r == nil || status < 0 || status >= maxStatus {
		return
	}
	r.took.Observe(took.Seconds())
	counter := r.status[status].Load()
	if counter == nil {
		made := r.vec.WithLabelValues(r.route, strconv.Itoa(status))
		counter = &made
		r.status[status].Store(counter)
	}
	(*counter).Inc()
}
