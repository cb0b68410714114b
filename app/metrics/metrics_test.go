package metrics

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"teamdata/store"
)

// scrape asks for the metrics and reads them as Prometheus does.
func scrape(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("answered %d %s", answer.Code, answer.Body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// ours returns the metrics with our prefix, each with its labels and value.
func ours(families map[string]*dto.MetricFamily) (lines []string) {
	for name, f := range families {
		if !strings.HasPrefix(name, "teamdata_") {
			continue
		}
		for _, m := range f.Metric {
			line := name
			for _, l := range m.Label {
				line += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
			}
			value := fmt.Sprint(m.GetCounter().GetValue() + m.GetGauge().GetValue())
			if h := m.GetHistogram(); h != nil {
				value = fmt.Sprintf("%d/%g", h.GetSampleCount(), h.GetSampleSum())
			}
			lines = append(lines, line+" "+value)
		}
	}
	slices.Sort(lines)
	return lines
}

func full() Sources {
	return Sources{
		Ready: func() bool { return true },
		Storage: func() (Storage, error) {
			return Storage{Stats: store.Stats{Reads: 2, OldestRead: time.Second, Size: 3, Free: 4}, DiskFree: 5}, nil
		},
		Queue: func() (store.Backlog, error) {
			return store.Backlog{Waiting: store.Waiting{Due: 1, Later: 2, Held: 3, Pull: 5}, Leased: 6, Busy: 4, DueAt: time.Now().Add(time.Hour), HeldAt: time.Now().Add(time.Hour), Mails: 5}, nil
		},
		Nodes: func() (Nodes, error) { return Nodes{}, nil },
		Certificates: func() []store.CertificateStatus {
			return []store.CertificateStatus{{Name: "a.example", Authority: "https://acme.test/dir", NotAfter: time.Unix(7, 0)}, {Name: "b.example", LastError: "no answer"}}
		},
		EgressProxy: func() (bool, uint64) { return true, 11 },
		Backup:      func() (time.Time, bool) { return time.Unix(8, 0), true },
		Sweeps:      func() (time.Duration, time.Time) { return 9 * time.Second, time.Unix(10, 0) },
	}
}

// onDatabase are sources of which the database gives an error or none.
func onDatabase(err error) Sources {
	s := full()
	s.Storage = func() (Storage, error) {
		return Storage{Stats: store.Stats{Size: 3, Database: &store.Database{Connections: 6, MaxConnections: 7, Waiting: 8, ClockOffset: time.Second, Retries: 9, Doubts: 10}}}, err
	}
	s.Nodes = func() (Nodes, error) {
		return Nodes{Now: time.Unix(100, 0), List: []store.Node{
			{Name: "a", Version: "1.0", State: store.NodeRunning, Shards: 40, ClockOffset: -2 * time.Second, SeenAt: time.Unix(99, 0)},
			{Name: "b", Version: "1.1", State: store.NodeLost, Shards: 20, SeenAt: time.Unix(70, 0)},
		}}, nil
	}
	return s
}

var names = Names{Version: "1.0", Routes: []string{"/a", "/b"}, Limits: []string{"client"}, Outcomes: []string{"acknowledged", "5xx"}, Expired: []string{"finished", "held"}}

func TestValues(t *testing.T) {
	m := New(names, full())
	m.Answered("/a", 200, time.Second)
	m.Answered("/a", 200, time.Second)
	m.Answered("/a", 503, time.Second)
	m.Answered("/raw/path", 200, time.Second)
	m.Answered("/a", 1000, time.Second)
	m.Limited("client")
	m.Dropped("held", 50)
	m.Dropped("unheard of", 50)
	m.Committed(5, time.Second, nil)
	m.Committed(6, time.Second, errors.New("full"))
	m.Attempted("org_a", "whe_1", "acknowledged", time.Second)
	m.Attempted("org_a", "whe_1", "5xx", time.Second)
	want := `teamdata_attempt_duration_seconds 2/2
teamdata_attempts_total outcome=5xx 1
teamdata_attempts_total outcome=acknowledged 1
teamdata_backup_last_success_timestamp_seconds 8
teamdata_build_info version=1.0 1
teamdata_certificate_expiry_timestamp_seconds name=a.example 7
teamdata_certificate_failing name=a.example 0
teamdata_certificate_failing name=b.example 1
teamdata_certificate_info authority=https://acme.test/dir name=a.example 1
teamdata_commit_duration_seconds 2/2
teamdata_commit_updates 1/5
teamdata_commits_total result=failed 1
teamdata_commits_total result=ok 1
teamdata_data_file_bytes 3
teamdata_data_file_free_bytes 4
teamdata_disk_free_bytes 5
teamdata_egress_proxy_given_back_total 11
teamdata_egress_proxy_up 1
teamdata_endpoint_failures_total endpoint=whe_1 org=org_a 1
teamdata_http_request_duration_seconds route=/a 3/3
teamdata_http_request_duration_seconds route=/b 0/0
teamdata_http_requests_total code=200 route=/a 2
teamdata_http_requests_total code=503 route=/a 1
teamdata_limit_hits_total limit=client 1
teamdata_mail_oldest_seconds 0
teamdata_mails_waiting 5
teamdata_queue_capped 0
teamdata_queue_deliveries state=due 1
teamdata_queue_deliveries state=held 3
teamdata_queue_deliveries state=later 2
teamdata_queue_deliveries state=leased 6
teamdata_queue_deliveries state=pull 5
teamdata_queue_due_lag_seconds 0
teamdata_queue_endpoints 4
teamdata_queue_held_oldest_seconds 0
teamdata_queue_pull_oldest_seconds 0
teamdata_read_oldest_seconds 1
teamdata_reads_open 2
teamdata_ready 1
teamdata_retention_dropped_total kind=finished 0
teamdata_retention_dropped_total kind=held 50
teamdata_retention_last_success_timestamp_seconds 10
teamdata_retention_running_seconds 9`
	if got := strings.Join(ours(scrape(t, m)), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}

// A database has no free space to show, and while it is away only what is known here
// is scraped: nothing that would have to wait for it.
func TestDatabase(t *testing.T) {
	for _, err := range []error{nil, errors.New("away")} {
		families := scrape(t, New(names, onDatabase(err)))
		var got []string
		for _, line := range ours(families) {
			if strings.HasPrefix(line, "teamdata_da") || strings.HasPrefix(line, "teamdata_queue_e") {
				got = append(got, line)
			}
		}
		known := []string{
			"teamdata_database_clock_offset_seconds 1", "teamdata_database_connections 6", "teamdata_database_connections_max 7",
			"teamdata_database_doubts_total 10", "teamdata_database_retries_total 9", "teamdata_database_up 0", "teamdata_database_waiting 8",
		}
		if err == nil {
			known[5] = "teamdata_database_up 1"
			known = append(append([]string{"teamdata_data_file_bytes 3"}, known...), "teamdata_queue_endpoints 4")
		}
		if !slices.Equal(got, known) {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// The nodes that share a database are told of by name, and so are shards that nobody
// sends for.
func TestNodes(t *testing.T) {
	var got []string
	for _, line := range ours(scrape(t, New(names, onDatabase(nil)))) {
		if strings.HasPrefix(line, "teamdata_node_") {
			got = append(got, line)
		}
	}
	want := `teamdata_node_clock_offset_seconds node=a -2
teamdata_node_clock_offset_seconds node=b 0
teamdata_node_info node=a version=1.0 1
teamdata_node_info node=b version=1.1 1
teamdata_node_seen_seconds node=a 1
teamdata_node_seen_seconds node=b 30
teamdata_node_shards node=a 40
teamdata_node_shards node=b 20
teamdata_node_shards_unowned 24
teamdata_node_state node=a state=lost 0
teamdata_node_state node=a state=running 1
teamdata_node_state node=a state=stopping 0
teamdata_node_state node=b state=lost 1
teamdata_node_state node=b state=running 0
teamdata_node_state node=b state=stopping 0`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s", text)
	}
}

// Of many nodes those that were seen last are in a scrape.
func TestNodesAreBounded(t *testing.T) {
	many := Nodes{Now: time.Unix(10_000, 0)}
	for i := range 1000 {
		state := store.NodeLost
		if i == 500 {
			state = store.NodeRunning
		}
		many.List = append(many.List, store.Node{Name: fmt.Sprint("node-", i), State: state, SeenAt: time.Unix(int64((i+500)%1000), 0)})
	}
	many.List[500].SeenAt = many.Now
	s := onDatabase(nil)
	s.Nodes = func() (Nodes, error) { return many, nil }
	families := scrape(t, New(names, s))
	if n := len(families["teamdata_node_shards"].Metric); n != maxNodes {
		t.Errorf("%d nodes are shown", n)
	}
	running := 0.0
	for _, m := range families["teamdata_node_state"].Metric {
		if m.Label[1].GetValue() == store.NodeRunning {
			running += m.Gauge.GetValue()
		}
	}
	if running != 1 {
		t.Errorf("%g nodes are shown running", running)
	}
}

// The catalogue describes each metric that is scraped, and each of its metrics can be
// scraped.
func TestCatalogue(t *testing.T) {
	m := New(names, full())
	m.Answered("/a", 200, 0)
	m.Attempted("org_a", "whe_1", "5xx", 0)
	families := scrape(t, m)
	for name, f := range scrape(t, New(names, onDatabase(nil))) {
		if families[name] == nil {
			families[name] = f
		}
	}
	for _, e := range Catalogue {
		f := families[e.Name]
		if f == nil {
			t.Errorf("%s is not scraped", e.Name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != e.Type || f.GetHelp() != e.Help {
			t.Errorf("%s is a %s: %s", e.Name, got, f.GetHelp())
		}
		if e.Type == "counter" != strings.HasSuffix(e.Name, "_total") {
			t.Errorf("%s is a %s", e.Name, e.Type)
		}
		delete(families, e.Name)
	}
	for name := range families {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is not in the catalogue", name)
		}
	}
}

// Sources that fail leave the other metrics in place.
func TestSourcesThatFail(t *testing.T) {
	s := full()
	s.Queue = func() (store.Backlog, error) { return store.Backlog{}, errors.New("broken") }
	s.Nodes = func() (Nodes, error) { return Nodes{}, errors.New("broken") }
	s.Storage = func() (Storage, error) { return Storage{}, errors.New("broken") }
	s.Backup = func() (time.Time, bool) { return time.Time{}, false }
	families := scrape(t, New(names, s))
	if families["teamdata_build_info"] == nil || families["teamdata_queue_endpoints"] != nil || families["teamdata_node_info"] != nil || families["teamdata_backup_last_success_timestamp_seconds"] != nil {
		t.Errorf("it has %v", ours(families))
	}
}

// However many endpoints fail, a few are shown: those that fail most.
func TestFailuresAreBounded(t *testing.T) {
	m := New(names, full())
	for i := range 3 * maxTracked {
		m.Attempted("org_a", fmt.Sprint("once_", i), "5xx", 0)
		if i%10 == 0 {
			for worst := range maxShown {
				m.Attempted("org_a", fmt.Sprintf("worst_%02d", worst), "5xx", 0)
			}
		}
	}
	if n := len(m.attempts.failures.by); n != maxTracked {
		t.Errorf("%d endpoints are remembered", n)
	}
	shown := scrape(t, m)["teamdata_endpoint_failures_total"].Metric
	if len(shown) != maxShown {
		t.Errorf("%d endpoints are shown", len(shown))
	}
	for _, s := range shown {
		if !strings.HasPrefix(s.Label[0].GetValue(), "worst_") || s.Counter.GetValue() != 3*maxTracked/10 {
			t.Errorf("shown is %v", s)
		}
	}
}

// Counting on the hot paths allocates nothing.
func TestNoAllocation(t *testing.T) {
	m := New(names, full())
	m.Answered("/a", 200, 0)
	allocated := testing.AllocsPerRun(1000, func() {
		m.Answered("/a", 200, time.Millisecond)
		m.Committed(3, time.Millisecond, nil)
		m.Attempted("org_a", "whe_1", "acknowledged", time.Millisecond)
	})
	if allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}

func BenchmarkAnswered(b *testing.B) {
	m := New(names, full())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Answered("/a", 200, time.Millisecond)
		}
	})
}
