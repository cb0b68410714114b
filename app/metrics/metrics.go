// Package metrics exposes the server's Prometheus metrics.
//
// Events that happen often (requests, commits, attempts) are counted by a [Metrics]
// as they happen. That costs a few atomic additions, no lock and no allocation,
// except for attempts that fail. Values that change by themselves, such as the
// length of the queue, are read from [Sources] at each scrape.
//
// It imports store, whose states it shows: app passes the functions that call it and those that it
// calls. A new metric is a line in [Catalogue], and in docs/monitoring.md, a
// dashboard panel, and either a counter beside the others or a field of a source
// in collector.go.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts events as they happen. Make one with [New].
type Metrics struct {
	registry *prometheus.Registry
	routes   map[string]*routeMetrics
	limits   map[string]prometheus.Counter
	expired  map[string]prometheus.Counter
	commits  commitMetrics
	attempts attemptMetrics
}

// Names are the values that labels can have.
type Names struct {
	Version  string
	Routes   []string
	Limits   []string
	Outcomes []string // of attempts; the first is that of an acknowledged one
	Expired  []string // kinds of records that are dropped when their time is over
}

// New makes metrics that read the sources at each scrape.
func New(n Names, s Sources) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{sources: s, version: n.Version},
		&m.attempts.failures,
	)
	m.countRequests(n.Routes)
	m.limits = m.counters("teamdata_limit_hits_total", n.Limits)
	m.expired = m.counters("teamdata_retention_dropped_total", n.Expired)
	m.commits.init(m)
	m.attempts.init(m, n.Outcomes)
	return m
}

// counters registers a counter with one label, and makes one for each value.
func (m *Metrics) counters(name string, values []string) map[string]prometheus.Counter {
	vec := counters(name)
	m.registry.MustRegister(vec)
	made := make(map[string]prometheus.Counter, len(values))
	for _, value := range values {
		made[value] = vec.WithLabelValues(value)
	}
	return made
}

func (m *Metrics) histogram(name string, buckets []float64) prometheus.Observer {
	vec := histograms(name, buckets)
	m.registry.MustRegister(vec)
	return vec.WithLabelValues()
}

// maxScrapes is how many scrapes may run at once.
const maxScrapes = 4

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		Timeout:             20 * time.Second,
		ErrorHandling:       promhttp.ContinueOnError, // metrics that can't be read are left out
	})
}

// Limited counts a request that a rate limit refused.
func (m *Metrics) Limited(limit string) {
	if c := m.limits[limit]; c != nil {
		c.Inc()
	}
}

// Dropped counts records of a kind that were dropped.
func (m *Metrics) Dropped(kind string, n int) {
	if c := m.expired[kind]; c != nil {
		c.Add(float64(n))
	}
}

type commitMetrics struct {
	ok, failed prometheus.Counter
	took       prometheus.Observer
	updates    prometheus.Observer
}

func (c *commitMetrics) init(m *Metrics) {
	results := m.counters("teamdata_commits_total", []string{"ok", "failed"})
	c.ok, c.failed = results["ok"], results["failed"]
	c.took = m.histogram("teamdata_commit_duration_seconds", requestBuckets)
	c.updates = m.histogram("teamdata_commit_updates", prometheus.ExponentialBuckets(1, 2, 11)) // up to 1,024, the most that share one
}

// Committed counts a commit that a number of updates shared, and its error.
func (m *Metrics) Committed(updates int, took time.Duration, err error) {
	if m.commits.took.Observe(took.Seconds()); err != nil {
		m.commits.failed.Inc()
		return
	}
	m.commits.ok.Inc()
	m.commits.updates.Observe(float64(updates))
}
