package serve_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The metrics of the real program, on their own listener and on the socket, say
// what it did.
func TestMetrics(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example, "--key-rate", "2", "--metrics", "127.0.0.1:0",
		"--backup-dir", filepath.Join(t.TempDir(), "backups"))
	for range 3 {
		p.Must("GET", "/members", program.ReadKey)
	}
	if a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey); a.Status != 200 {
		t.Fatalf("answered %d %s", a.Status, a.Body)
	}
	const failures = "teamdata_endpoint_failures_total endpoint=whe_hook org=org_acme" // a sample is not of one instant
	url := p.MetricsURL()
	var got map[string]float64
	p.Await("an attempt and a backup", func() bool {
		got = program.Scraped(t, http.DefaultClient, url)
		return got["teamdata_attempts_total outcome=guard"] > 0 && got[failures] > 0 && got["teamdata_backup_last_success_timestamp_seconds"] > 0
	})
	for name, want := range map[string]float64{
		"teamdata_http_requests_total code=200 route=/api/v1/members":                     2,
		"teamdata_http_requests_total code=429 route=/api/v1/members":                     1,
		"teamdata_http_requests_total code=200 route=/api/v1/webhooks/:id/test":           1,
		"teamdata_http_request_duration_seconds route=/api/v1/members":                    3,
		"teamdata_limit_hits_total limit=key":                                             1,
		"teamdata_ready":                                                                  1,
		"teamdata_queue_capped":                                                           0,
		"teamdata_commits_total result=failed":                                            0,
		"teamdata_build_info version=" + strings.Fields(program.MustRun(t, "version"))[1]: 1,
	} {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s is %g (there: %t), not %g", name, value, there, want)
		}
	}
	for _, name := range []string{
		"teamdata_commits_total result=ok", "teamdata_commit_updates", "teamdata_data_file_bytes",
		"teamdata_disk_free_bytes", "teamdata_certificate_expiry_timestamp_seconds name=local CA",
		"go_goroutines", "process_open_fds",
	} {
		if got[name] <= 0 {
			t.Errorf("%s is %g", name, got[name])
		}
	}
	if onSocket := program.Scraped(t, program.NewOperator(t, data).Client, "http://teamdata"+app.MetricsPath); len(onSocket) < len(got) {
		t.Errorf("on the socket there are %d samples, and not %d", len(onSocket), len(got))
	}
	if a := kit.Get(t, http.DefaultClient, strings.TrimSuffix(url, app.MetricsPath)+"/"); a.Status != 404 {
		t.Errorf("beside the metrics there is an answer of %d", a.Status)
	}
	if status, _ := p.Health(app.MetricsPath); status != 404 {
		t.Errorf("the public listener answers the metrics with %d", status)
	}
}

// Without the flag they are on the socket alone; an address that is taken keeps it
// from starting.
func TestMetricsListener(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--metrics", "127.0.0.1:0")
	taken := strings.TrimSuffix(strings.TrimPrefix(p.MetricsURL(), "http://"), app.MetricsPath)
	out, err := program.Run(t, "serve", "--data", filepath.Join(t.TempDir(), "b.db"), "--listen", "127.0.0.1:0", "--metrics", taken)
	if err == nil || !strings.Contains(out, "--metrics: can't listen on "+taken) {
		t.Errorf("on an address that is taken: %v %s", err, out)
	}
}
