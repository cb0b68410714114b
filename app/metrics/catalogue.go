package metrics

import "github.com/prometheus/client_golang/prometheus"

// Entry is a metric as docs/monitoring.md lists it.
type Entry struct {
	Name   string
	Type   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// Catalogue lists all our metrics. Those of the Go runtime and of the process, go_*
// and process_*, are exposed too.
var Catalogue = []Entry{
	{"teamdata_build_info", "gauge", []string{"version"}, "1, with the version of the program."},
	{"teamdata_ready", "gauge", nil, "1 while GET /readyz answers 200, else 0. Each scrape checks it."},

	{"teamdata_http_requests_total", "counter", []string{"route", "code"}, "Requests by the pattern of their route and the status of their answer. Status 0 is an answer that was broken off."},
	{"teamdata_http_request_duration_seconds", "histogram", []string{"route"}, "Time from a request's arrival to the end of its answer."},
	{"teamdata_limit_hits_total", "counter", []string{"limit"}, "Requests that a rate limit refused, by limit: client, key or pull."},

	{"teamdata_commits_total", "counter", []string{"result"}, "Commits by result: ok or failed."},
	{"teamdata_commit_duration_seconds", "histogram", nil, "Time of a commit, from its first update's start to the end of its sync, or to the database's answer."},
	{"teamdata_commit_updates", "histogram", nil, "Updates that shared a commit."},
	{"teamdata_reads_open", "gauge", nil, "Read transactions that are open, up to 256."},
	{"teamdata_read_oldest_seconds", "gauge", nil, "Age of the oldest open read transaction. While it is open, space that commits free is not reused, in the data file or the database."},
	{"teamdata_data_file_bytes", "gauge", nil, "Size of the data file, or of the database."},
	{"teamdata_data_file_free_bytes", "gauge", nil, "Space in the data file that commits can reuse, measured at most a minute ago. Absent with a database."},
	{"teamdata_disk_free_bytes", "gauge", nil, "Space that is free on the disk of the data file."},
	{"teamdata_database_up", "gauge", nil, "1 if the database answered within 2 s of this scrape, else 0. All database metrics are absent without a database."},
	{"teamdata_database_connections", "gauge", nil, "Connections to the database that are in use."},
	{"teamdata_database_connections_max", "gauge", nil, "Connections that this server may use."},
	{"teamdata_database_waiting", "gauge", nil, "Reads and commits waiting for a connection."},
	{"teamdata_database_clock_offset_seconds", "gauge", nil, "How far the database's clock is ahead of this machine's."},
	{"teamdata_database_retries_total", "counter", nil, "Transactions that were run again, because the database aborted or lost them before their commit."},
	{"teamdata_database_doubts_total", "counter", nil, "Commits whose answer was lost, so that the server asked the database whether they succeeded."},
	{"teamdata_node_info", "gauge", []string{"node", "version"}, "1, with the version of a node. Nodes are the servers that share the database, including those lost within the last hour, up to 64. All node metrics are absent without a database and while it does not answer."},
	{"teamdata_node_state", "gauge", []string{"node", "state"}, "1 for the state of a node, 0 for the other states: running, stopping, or lost after not being seen for 6 s."},
	{"teamdata_node_shards", "gauge", []string{"node"}, "Shards of endpoints that a node sends for, of 64."},
	{"teamdata_node_shards_unowned", "gauge", nil, "Shards that no node sends for: a node released them or was lost, and no other has taken them over yet."},
	{"teamdata_node_clock_offset_seconds", "gauge", []string{"node"}, "How far the database's clock is ahead of a node's."},
	{"teamdata_node_seen_seconds", "gauge", []string{"node"}, "How long ago a node was last seen, by the database's clock."},
	{"teamdata_retention_dropped_total", "counter", []string{"kind"}, "Records dropped because their time was over, by kind: finished and held deliveries, removed records of deleted endpoints and orgs, and counts of attempts by the hour."},
	{"teamdata_retention_running_seconds", "gauge", nil, "How long the sweep that drops such records has been running, or 0 when none is. After 10 minutes it speeds up."},
	{"teamdata_retention_last_success_timestamp_seconds", "gauge", nil, "When a sweep last ended with nothing left to drop, or 0 if none has since the start."},

	{"teamdata_queue_deliveries", "gauge", []string{"state"}, "Deliveries: due, later (their retry is not due yet), held (their endpoint is disabled) or pull (they wait to be pulled), counted at the scrape, up to 100,000 in all; and leased, those that were pulled and not acknowledged yet, up to as many."},
	{"teamdata_queue_capped", "gauge", nil, "1 while more deliveries wait than were counted."},
	{"teamdata_queue_endpoints", "gauge", nil, "Endpoints with deliveries that wait to be sent, excluding disabled endpoints."},
	{"teamdata_queue_due_lag_seconds", "gauge", nil, "How long the earliest delivery has been due, or 0 when none is due."},
	{"teamdata_queue_pull_oldest_seconds", "gauge", nil, "How long the oldest delivery has been waiting to be pulled, or 0 when none is. After --held-retention it is dropped."},
	{"teamdata_queue_held_oldest_seconds", "gauge", nil, "How long the oldest held delivery has been held, or 0 when none is held. After --held-retention it is dropped."},
	{"teamdata_mails_waiting", "gauge", nil, "Mails waiting to be sent, counted up to 1,000."},
	{"teamdata_mail_oldest_seconds", "gauge", nil, "Age of the oldest mail that waits, or 0 when none waits."},

	{"teamdata_attempts_total", "counter", []string{"outcome"}, "Attempts by outcome: acknowledged, the class of another status, or the reason why no status line came."},
	{"teamdata_attempt_duration_seconds", "histogram", nil, "Time of an attempt, from dialing to the end of the answer."},
	{"teamdata_egress_proxy_up", "gauge", nil, "0 while --egress-proxy fails, so that webhooks behind it wait, else 1. Both metrics of the proxy are absent without that flag."},
	{"teamdata_egress_proxy_given_back_total", "counter", nil, "How often a delivery was given back without an attempt, because the proxy had failed."},
	{"teamdata_endpoint_failures_total", "counter", []string{"org", "endpoint"}, "Attempts that were not acknowledged, for the 20 endpoints with the most since the start."},

	{"teamdata_certificate_expiry_timestamp_seconds", "gauge", []string{"name"}, "When a certificate expires, also an endpoint's client certificate in its last 28 days. Absent without one."},
	{"teamdata_certificate_info", "gauge", []string{"name", "authority"}, "1, with the directory of the ACME authority that issued a certificate. Absent without one."},
	{"teamdata_certificate_failing", "gauge", []string{"name"}, "1 if the last attempt to renew a certificate failed. The log says why."},
	{"teamdata_backup_last_success_timestamp_seconds", "gauge", nil, "When the newest backup of --backup-dir was made, or 0 if none was. Absent without that flag."},
}

// entry finds a metric by its name; one that is not in the catalogue panics.
func entry(name string) Entry {
	for _, e := range Catalogue {
		if e.Name == name {
			return e
		}
	}
	panic("metrics: the catalogue has no " + name)
}

func counters(name string) *prometheus.CounterVec {
	e := entry(name)
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: e.Name, Help: e.Help}, e.Labels)
}

func histograms(name string, buckets []float64) *prometheus.HistogramVec {
	e := entry(name)
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: e.Name, Help: e.Help, Buckets: buckets}, e.Labels)
}
