package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

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
		f.check(t, hasBaseline)
	}
	wholeJSON(t, report)
	alignedTable(t, report)
}

func (f *Figure) check(t *testing.T, hasBaseline bool) {
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
func wholeJSON(t *testing.T, report *Report) {
	var b bytes.Buffer
	if err := terminal.JSON(&b, report); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
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

// The ratio is meant to tell what teamdata does beyond answering, so the baseline
// and the server answer about the same number of bytes.
func TestBaselineAnswersAsMuch(t *testing.T) {
	s := beginSession(t, tiny(t))
	d, err := s.deploy(t.Context(), "accept", 1, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, _, err := s.load(t.Context(), d.target, 1, d.org.test(0))
	if err != nil {
		t.Fatal(err)
	}
	bare, _, err := s.loadHandler(t.Context(), testAnswerBytes, 1, d.org.test(0))
	if err != nil {
		t.Fatal(err)
	}
	if n := ours[0].length - bare[0].length; n > 8 || n < -8 {
		t.Errorf("the server answers %d bytes, the baseline %d", ours[0].length, bare[0].length)
	}
}
