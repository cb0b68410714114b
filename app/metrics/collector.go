package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"teamdata/store"
)

// Sources are read at each scrape. The metrics of one that returns an error are left out.
type Sources struct {
	Ready        func() bool
	Storage      func() (Storage, error)
	Queue        func() (store.Backlog, error)
	Nodes        func() (Nodes, error) // asked while the database answers
	Certificates func() []store.CertificateStatus
	Backup       func() (newest time.Time, ok bool) // zero: none was made yet
	EgressProxy  func() (up bool, givenBack uint64) // nil: there is none
	Sweeps       func() (running time.Duration, done time.Time)
}

// Storage is the state of the data and of its disk.
type Storage struct {
	store.Stats
	DiskFree        uint64 // bytes
	DiskFreeUnknown bool
}

// collector reads the sources when Prometheus scrapes.
type collector struct {
	sources Sources
	version string
}

// Describe sends nothing: which metrics there are depends on the sources.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of all sources to the registry.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	set := func(name string, value float64, labels ...string) { out <- constant(name, value, labels...) }
	set("teamdata_build_info", 1, c.version)
	set("teamdata_ready", flag(c.sources.Ready()))
	s, err := c.sources.Storage()
	if err == nil {
		s.collect(set)
	}
	if s.Database != nil {
		collectDatabase(*s.Database, err == nil, set)
	}
	if s.Database == nil || err == nil { // else these would be waited for, too; certificates are for a second at most
		if q, err := c.sources.Queue(); err == nil {
			collectBacklog(q, set, time.Now())
		}
		if nodes, err := c.sources.Nodes(); err == nil {
			nodes.collect(set)
		}
	}
	for _, s := range c.sources.Certificates() {
		if !s.NotAfter.IsZero() {
			set("teamdata_certificate_expiry_timestamp_seconds", unix(s.NotAfter), s.Name)
		}
		if s.Authority != "" {
			set("teamdata_certificate_info", 1, s.Name, s.Authority)
		}
		set("teamdata_certificate_failing", flag(s.LastError != ""), s.Name)
	}
	if c.sources.EgressProxy != nil {
		up, givenBack := c.sources.EgressProxy()
		set("teamdata_egress_proxy_up", flag(up))
		set("teamdata_egress_proxy_given_back_total", float64(givenBack))
	}
	running, done := c.sources.Sweeps()
	set("teamdata_retention_running_seconds", running.Seconds())
	set("teamdata_retention_last_success_timestamp_seconds", unix(done))
	if newest, ok := c.sources.Backup(); ok {
		set("teamdata_backup_last_success_timestamp_seconds", unix(newest))
	}
}

type setter = func(name string, value float64, labels ...string)

func (s Storage) collect(set setter) {
	set("teamdata_reads_open", float64(s.Reads))
	set("teamdata_read_oldest_seconds", s.OldestRead.Seconds())
	set("teamdata_data_file_bytes", float64(s.Size))
	if s.Database == nil {
		set("teamdata_data_file_free_bytes", float64(s.Free))
	}
	if !s.DiskFreeUnknown {
		set("teamdata_disk_free_bytes", float64(s.DiskFree))
	}
}

func collectDatabase(d store.Database, up bool, set setter) {
	set("teamdata_database_up", flag(up))
	set("teamdata_database_connections", float64(d.Connections))
	set("teamdata_database_connections_max", float64(d.MaxConnections))
	set("teamdata_database_waiting", float64(d.Waiting))
	set("teamdata_database_clock_offset_seconds", d.ClockOffset.Seconds())
	set("teamdata_database_retries_total", float64(d.Retries))
	set("teamdata_database_doubts_total", float64(d.Doubts))
}

func collectBacklog(q store.Backlog, set setter, now time.Time) {
	set("teamdata_queue_deliveries", float64(q.Due), "due")
	set("teamdata_queue_deliveries", float64(q.Later), "later")
	set("teamdata_queue_deliveries", float64(q.Held), "held")
	set("teamdata_queue_deliveries", float64(q.Pull), "pull")
	set("teamdata_queue_deliveries", float64(q.Leased), "leased")
	set("teamdata_queue_capped", flag(q.Capped))
	set("teamdata_queue_endpoints", float64(q.Busy))
	set("teamdata_queue_due_lag_seconds", age(q.DueAt, now))
	set("teamdata_queue_pull_oldest_seconds", age(q.PullAt, now))
	set("teamdata_queue_held_oldest_seconds", age(q.HeldAt, now))
	set("teamdata_mails_waiting", float64(q.Mails))
	set("teamdata_mail_oldest_seconds", age(q.MailsAt, now))
}

// age is in seconds, 0 for a time that is zero or in the future.
func age(at, now time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return max(now.Sub(at).Seconds(), 0)
}

// unix is 0 for the zero time.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// constant is a metric with a value that is read at the scrape.
func constant(name string, value float64, labels ...string) prometheus.Metric {
	e := entry(name)
	kind := prometheus.GaugeValue
	if e.Type == "counter" {
		kind = prometheus.CounterValue
	}
	return prometheus.MustNewConstMetric(prometheus.NewDesc(e.Name, e.Help, e.Labels, nil), kind, value, labels...)
}
