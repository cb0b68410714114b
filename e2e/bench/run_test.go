package bench_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"teamdata/cli/bench"
	"teamdata/e2e/kit"
	"teamdata/internal/terminal"
)

// everyFigure are those of a run of everything, in order. Those with a "+" have
// a baseline and a ratio to it.
var everyFigure = strings.Fields(`
	sync handler accept+ after-deletions+ client deliver+ deliver.accept deliver.cpu+ deliver.duplicates
	latency.request.p50+ latency.answer.p50+ latency.request.p99+ latency.answer.p99+ pages+`)

// mayBeZero are figures that are 0 when all goes well.
var mayBeZero = []string{"deliver.duplicates", "latency.answer.p50", "latency.answer.p99"}

// Everything runs against the real program, in one run, and has its figures.
func TestEverything(t *testing.T) {
	t.Parallel()
	c := tiny(t)
	report := measure(t, c)
	isEmpty(t, c.Dir)
	if len(report.Figures) != len(everyFigure) {
		t.Fatalf("%d figures, not %d", len(report.Figures), len(everyFigure))
	}
	for i, f := range report.Figures {
		name, hasBaseline := strings.CutSuffix(everyFigure[i], "+")
		if f.Name != name {
			t.Errorf("figure %d is %s, not %s", i, f.Name, name)
		}
		check(t, f, hasBaseline)
	}
	wholeJSON(t, report)
	var table strings.Builder
	if err := report.WriteTable(&table); err != nil || !strings.Contains(table.String(), c.Dir) {
		t.Errorf("%v in\n%s", err, &table)
	}
}

// check holds a figure to what a reader needs.
func check(t *testing.T, f bench.Figure, hasBaseline bool) {
	t.Helper()
	if f.Value < 0 || math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value == 0 && !slices.Contains(mayBeZero, f.Name) {
		t.Errorf("%s is %v", f.Name, f.Value)
	}
	if f.Name == "deliver.duplicates" && f.Value != 0 {
		t.Errorf("%v webhooks came more than once", f.Value)
	}
	if f.Unit == "" || f.Meaning == "" || len(f.Rounds) == 0 {
		t.Errorf("%s lacks a unit, a meaning or its rounds: %+v", f.Name, f)
	}
	if hasBaseline && (f.Baseline == nil || f.Ratio == nil || f.BaselineOf == "" || *f.Ratio != f.Value / *f.Baseline) {
		t.Errorf("%s lacks its baseline: %+v", f.Name, f)
	}
}

// wholeJSON reads what was written, and misses no field.
func wholeJSON(t *testing.T, report *bench.Report) {
	var b bytes.Buffer
	kit.Must(t, terminal.JSON(&b, report))
	var got map[string]any
	kit.Must(t, json.Unmarshal(b.Bytes(), &got))
	hasFields(t, got, "machine", "startedAt", "seconds", "figures", "notes")
	hasFields(t, got["machine"], "cpus", "os", "arch", "go", "version", "folder", "inMemory")
	for _, f := range got["figures"].([]any) {
		hasFields(t, f, "name", "value", "unit", "baseline", "ratio", "baselineOf", "meaning", "rounds")
		for _, r := range f.(map[string]any)["rounds"].([]any) {
			hasFields(t, r, "value", "baseline")
		}
	}
}

func hasFields(t *testing.T, object any, names ...string) {
	t.Helper()
	fields := object.(map[string]any)
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			t.Errorf("%v lacks %s", object, name)
		}
	}
	if len(fields) != len(names) {
		t.Errorf("%v has fields beside %v", object, names)
	}
}

// What is not asked for is not measured, and not shown.
func TestOnly(t *testing.T) {
	t.Parallel()
	for only, want := range map[string]string{
		"sync": "sync", "handler": "handler", "accept": "accept", "client": "client",
		"client,handler": "handler client",
	} {
		c := tiny(t)
		c.Only = strings.Split(only, ",")
		var got []string
		for _, f := range measure(t, c).Figures {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("--only %s measured %v", only, got)
		}
	}
}
