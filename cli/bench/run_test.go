package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// everyFigure are those of a run of everything, in order. Those with a "+" have
// a floor and a ratio to it. Without a system that tells it, there is no memory.
var everyFigure = strings.Fields(`
	sync handler accept+ client deliver+ deliver.accept deliver.cpu+ deliver.duplicates
	latency.request.p50+ latency.answer.p50+ latency.request.p99+ latency.answer.p99+ pages+
	memory.idle+ memory.loaded+ memory.peak+
	backlog.start+ backlog.first backlog.memory+ backlog.accept+
	hanging.answer.p99 hanging.request.p99+ hanging.memory+`)

// mayBeZero are figures that are 0 when all goes well.
var mayBeZero = []string{"deliver.duplicates", "latency.answer.p50", "latency.answer.p99", "backlog.first", "hanging.answer.p99"}

// Everything runs against the real program, in one run, and has its figures.
func TestEverything(t *testing.T) {
	c := tiny(t)
	report := measure(t, c)
	isEmpty(t, c.Dir)
	want := slices.DeleteFunc(slices.Clone(everyFigure), func(name string) bool { return strings.Contains(name, "memory") && !memoryKnown })
	if len(report.Figures) != len(want) {
		t.Fatalf("%d figures, not %d", len(report.Figures), len(want))
	}
	for i, f := range report.Figures {
		name, hasFloor := strings.CutSuffix(want[i], "+")
		if f.Name != name {
			t.Errorf("figure %d is %s, not %s", i, f.Name, name)
		}
		f.check(t, hasFloor)
	}
	wholeJSON(t, report)
	alignedTable(t, report)
	if !slices.ContainsFunc(report.Notes, func(note string) bool { return strings.Contains(note, " of 54 endpoints hung when ") }) {
		t.Errorf("it does not say how many hung: %q", report.Notes)
	}
}

func (f *Figure) check(t *testing.T, hasFloor bool) {
	if f.Value < 0 || math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value == 0 && !slices.Contains(mayBeZero, f.Name) {
		t.Errorf("%s is %v", f.Name, f.Value)
	}
	if f.Name == "deliver.duplicates" && f.Value != 0 {
		t.Errorf("%v webhooks came more than once", f.Value)
	}
	if f.Unit == "" || f.Meaning == "" || len(f.Rounds) == 0 {
		t.Errorf("%s lacks a unit, a meaning or its rounds: %+v", f.Name, f)
	}
	if hasFloor && (f.Floor == nil || f.Ratio == nil || f.FloorOf == "" || *f.Ratio != f.Value / *f.Floor) {
		t.Errorf("%s lacks its floor: %+v", f.Name, f)
	}
}

// wholeJSON reads what was written, and misses no field.
func wholeJSON(t *testing.T, report *Report) {
	var b bytes.Buffer
	if err := report.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	hasFields(t, got, "machine", "startedAt", "seconds", "figures", "notes")
	hasFields(t, got["machine"], "cpus", "os", "arch", "go", "version", "folder", "inMemory")
	for _, f := range got["figures"].([]any) {
		hasFields(t, f, "name", "value", "unit", "floor", "ratio", "floorOf", "meaning", "rounds")
		for _, r := range f.(map[string]any)["rounds"].([]any) {
			hasFields(t, r, "value", "floor")
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

// What stands in the way of a figure is what its floor leaves out, so floor and
// ours answer the same number of bytes, or nearly.
func TestFloorAnswersAsMuch(t *testing.T) {
	s := newSession(t)
	a, err := s.prepareAccepting(t.Context(), "accept.db")
	if err != nil {
		t.Fatal(err)
	}
	defer a.end()
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	floor, err := s.newBareAsker(t.Context(), testAnswerBytes, 1, likeATest())
	if err != nil {
		t.Fatal(err)
	}
	defer floor.end()
	ours, bare := a.crowd[0].length, floor.crowd[0].length
	if ours-bare > 8 || bare-ours > 8 {
		t.Errorf("the appliance answers %d bytes, the floor %d", ours, bare)
	}
}
