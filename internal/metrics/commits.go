package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

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

// Committed is told of a commit, how many updates shared it, and its error.
func (m *Metrics) Committed(updates int, took time.Duration, err error) {
	if m.commits.took.Observe(took.Seconds()); err != nil {
		m.commits.failed.Inc()
		return
	}
	m.commits.ok.Inc()
	m.commits.updates.Observe(float64(updates))
}
