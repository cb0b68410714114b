package bench

import (
	"strings"
	"testing"
	"time"
)

// The round in the middle counts, as a whole.
func TestCompared(t *testing.T) {
	f := compared("f", "1/s", "baseline", "meaning", []Round{{10, 100}, {90, 100}, {30, 60}})
	if f.Value != 30 || *f.Baseline != 60 || *f.Ratio != 0.5 {
		t.Errorf("%+v, baseline %v, ratio %v", f, *f.Baseline, *f.Ratio)
	}
	f = compared("f", "ms", "baseline", "meaning", []Round{{1, 0}})
	if f.Baseline != nil || f.Ratio != nil {
		t.Error("there is a ratio to a baseline of 0")
	}
	if f = alone("f", "1/s", "meaning", 3, 1, 2); f.Value != 2 || len(f.Rounds) != 3 {
		t.Errorf("%+v", f)
	}
}

func TestPercentile(t *testing.T) {
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(i+1))
	}
	for percent, want := range map[int]time.Duration{1: 2, 50: 100, 99: 198, 100: 200} {
		if got := percentile(times, percent); got != want {
			t.Errorf("percentile %d is %d, not %d", percent, got, want)
		}
	}
	if got := percentile(times[:1], 1); got != 1 {
		t.Errorf("of one it is %d", got)
	}
}

// A reader is told when the machine itself changed from round to round.
func TestUnsteady(t *testing.T) {
	s := session{report: &Report{}}
	s.add(compared("steady", "1/s", "baseline", "meaning", []Round{{1, 100}, {9, 110}}))
	s.noteUnsteady()
	if len(s.report.Notes) > 0 {
		t.Errorf("of a steady machine it says %q", s.report.Notes)
	}
	s.add(compared("shaky", "1/s", "baseline", "meaning", []Round{{1, 100}, {1, 250}}))
	s.noteUnsteady()
	if len(s.report.Notes) != 1 || !strings.Contains(s.report.Notes[0], "shaky (by 2.5)") || strings.Contains(s.report.Notes[0], "steady (") {
		t.Errorf("of an unsteady machine it says %q", s.report.Notes)
	}
}
