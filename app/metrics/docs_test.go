package metrics

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docs/monitoring.md and Catalogue say the same, in the same order.
func TestMetricsAreDocumented(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `teamdata_.*$").FindAllString(read(t, "docs/monitoring.md"), -1)
	if len(rows) != len(Catalogue) {
		t.Errorf("the page lists %d metrics, the catalogue %d", len(rows), len(Catalogue))
	}
	for i, e := range Catalogue {
		want := fmt.Sprintf("| `%s` | %s | %s | %s |", e.Name, e.Type, strings.Join(e.Labels, ", "), e.Help)
		if i < len(rows) && rows[i] != want {
			t.Errorf("got  %s\nwant %s", rows[i], want)
		}
	}
}

var (
	metricName = regexp.MustCompile(`teamdata_[a-z_]+`)
	labelName  = regexp.MustCompile(`[{,]\s*([a-z]+)\s*(?:=~|!=|=)\s*"|\bby \(([a-z, ]+)\)|\{\{ ?(?:\$labels\.)?([a-z]+) ?\}\}`)
)

// checkNames checks that the metrics and labels of a dashboard or a rule exist, and
// returns those metrics.
func checkNames(t *testing.T, text string) (asked map[string]bool) {
	t.Helper()
	asked = map[string]bool{}
	labels := []string{"le"}
	for _, name := range metricName.FindAllString(text, -1) {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, cut := strings.CutSuffix(name, suffix); cut && slices.ContainsFunc(Catalogue, func(e Entry) bool { return e.Name == base && e.Type == "histogram" }) {
				name = base
			}
		}
		at := slices.IndexFunc(Catalogue, func(e Entry) bool { return e.Name == name })
		if at < 0 {
			t.Errorf("there is no metric %s", name)
			continue
		}
		asked[name] = true
		labels = append(labels, Catalogue[at].Labels...)
	}
	for _, match := range labelName.FindAllStringSubmatch(text, -1) {
		for label := range strings.SplitSeq(match[1]+match[2]+match[3], ", ") {
			if !slices.Contains(labels, label) {
				t.Errorf("none of the metrics has the label %q of %s", label, match[0])
			}
		}
	}
	return asked
}

// Each panel shows metrics that exist, and each metric is in a panel.
func TestDashboard(t *testing.T) {
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	text := read(t, "contrib/grafana.json")
	if err := json.Unmarshal([]byte(text), &board); err != nil {
		t.Fatal(err)
	}
	asked, ids := map[string]bool{}, map[int]bool{}
	for _, panel := range board.Panels {
		if ids[panel.ID] {
			t.Errorf("%s: another panel has the id %d", panel.Title, panel.ID)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			for name := range checkNames(t, target.Expr+" "+target.LegendFormat) {
				asked[name] = true
			}
			if n := strings.Count(target.Expr, "("); n != strings.Count(target.Expr, ")") {
				t.Errorf("%s: %s", panel.Title, target.Expr)
			}
		}
	}
	for _, e := range Catalogue {
		if !asked[e.Name] {
			t.Errorf("no panel shows %s", e.Name)
		}
	}
}

// Each rule uses metrics that exist, and has a severity and a summary.
func TestAlerts(t *testing.T) {
	rules := strings.Split(read(t, "contrib/alerts.yml"), "- alert: ")[1:]
	asked := map[string]bool{}
	for _, rule := range rules {
		for name := range checkNames(t, rule) {
			asked[name] = true
		}
		if !regexp.MustCompile(`(?s)^Teamdata\w+\n        expr: .*labels: \{severity: (warning|critical)\}\n        annotations:\n          summary: \S`).MatchString(rule) {
			t.Errorf("the rule is not whole:\n%s", rule)
		}
	}
	for _, name := range []string{
		"teamdata_ready", "teamdata_egress_proxy_up", "teamdata_queue_due_lag_seconds", "teamdata_queue_held_oldest_seconds", "teamdata_attempts_total", "teamdata_disk_free_bytes", "teamdata_commit_duration_seconds",
		"teamdata_database_up", "teamdata_database_waiting", "teamdata_database_clock_offset_seconds", "teamdata_database_doubts_total",
		"teamdata_node_state", "teamdata_node_shards_unowned", "teamdata_node_clock_offset_seconds", "teamdata_node_info",
		"teamdata_certificate_expiry_timestamp_seconds", "teamdata_backup_last_success_timestamp_seconds",
	} {
		if !asked[name] {
			t.Errorf("no rule looks at %s", name)
		}
	}
}
