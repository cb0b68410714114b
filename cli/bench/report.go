package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/internal/system"
	"teamdata/internal/terminal"
)

// Report is what a run found.
type Report struct {
	Machine   Machine   `json:"machine"`
	StartedAt time.Time `json:"startedAt"`
	Seconds   float64   `json:"seconds"` // that the run took
	Figures   []Figure  `json:"figures"`
	Notes     []string  `json:"notes"` // what a reader of the figures should know
}

// Machine is what was measured.
type Machine struct {
	CPUs     int    `json:"cpus"` // that the program may use
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Go       string `json:"go"`
	Version  string `json:"version"` // of teamdata
	Folder   string `json:"folder"`  // on the disk that was measured
	InMemory bool   `json:"inMemory"`
}

func newReport(c *Config) *Report {
	return &Report{
		Machine: Machine{
			CPUs: runtime.GOMAXPROCS(0), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
			Version: c.Version, Folder: c.Dir, InMemory: system.FileSystem(c.Dir) == system.Memory,
		},
		StartedAt: time.Now().UTC().Truncate(time.Second), Figures: []Figure{}, Notes: []string{},
	}
}

func (m *Machine) String() string {
	disk := m.Folder
	if m.InMemory {
		disk += ", which is in memory and no disk: a sync costs nothing there"
	}
	return fmt.Sprintf("%d CPUs, %s/%s, %s, teamdata %s\nmeasured in %s (--dir chooses another disk)", m.CPUs, m.OS, m.Arch, m.Go, m.Version, disk)
}

// add adds a figure, named after its measurement, if that was requested.
func (s *session) add(f Figure) {
	if measurement, _, _ := strings.Cut(f.Name, "."); s.wants(measurement) {
		s.report.Figures = append(s.report.Figures, f)
	}
}

// unsteady is the spread above which the report warns.
const unsteady = 2

// noteUnsteady notes which of the machine's own figures varied between rounds.
func (s *session) noteUnsteady() {
	var found []string
	for _, f := range s.report.Figures {
		if spread := f.spread(); spread >= unsteady {
			found = append(found, fmt.Sprintf("%s (by %.1f)", f.Name, spread))
		}
	}
	if len(found) > 0 {
		s.report.Notes = append(s.report.Notes, "the machine did not hold still: from round to round it changed under "+
			strings.Join(found, ", ")+"; run it again while nothing else runs")
	}
}

// Figure is one number, and how it compares.
type Figure struct {
	Name       string   `json:"name"`
	Value      float64  `json:"value"`
	Unit       string   `json:"unit"`
	Baseline   *float64 `json:"baseline"` // in the same unit; nil: it is a baseline itself, or has none
	Ratio      *float64 `json:"ratio"`    // Value by Baseline
	BaselineOf string   `json:"baselineOf"`
	Meaning    string   `json:"meaning"`
	Rounds     []Round  `json:"rounds"`
}

// Round is one turn of both. Baseline is 0 where there is none.
type Round struct {
	Value    float64 `json:"value"`
	Baseline float64 `json:"baseline"`
}

func (r Round) ratio() float64 { return r.Value / r.Baseline }

// turn measures something once.
type turn func(context.Context) (float64, error)

// inTurns measures both round by round, so that what else the machine does falls
// on both. A nil turn is left out.
func (s *session) inTurns(ctx context.Context, server, baseline turn) ([]Round, error) {
	rounds := make([]Round, s.Rounds)
	for i := range rounds {
		s.round(i)
		for _, t := range []struct {
			turn  turn
			value *float64
		}{{baseline, &rounds[i].Baseline}, {server, &rounds[i].Value}} {
			if t.turn == nil {
				continue
			}
			value, err := t.turn(ctx)
			if err != nil {
				return nil, err
			}
			*t.value = value
		}
	}
	return rounds, nil
}

// compared makes a figure of rounds: that of the round whose ratio is the
// middle one, so that value, baseline and ratio belong together.
func compared(name, unit, baselineOf, meaning string, rounds []Round) Figure {
	sorted := slices.Clone(rounds)
	slices.SortFunc(sorted, func(a, b Round) int { return cmp.Compare(a.ratio(), b.ratio()) })
	m := sorted[len(sorted)/2]
	f := Figure{Name: name, Unit: unit, Value: m.Value, BaselineOf: baselineOf, Meaning: meaning, Rounds: rounds}
	if m.Baseline > 0 {
		ratio := m.ratio()
		f.Baseline, f.Ratio = &m.Baseline, &ratio
	}
	return f
}

// alone makes a figure of values that have no baseline.
func alone(name, unit, meaning string, values ...float64) Figure {
	f := Figure{Name: name, Unit: unit, Meaning: meaning, Rounds: []Round{}}
	for _, v := range values {
		f.Rounds = append(f.Rounds, Round{Value: v})
	}
	f.Value = slices.Sorted(slices.Values(values))[len(values)/2]
	return f
}

// spread is the largest by the smallest of what the machine itself did, round
// by round: of the baselines, or of the values where there are none. It is 1
// where nothing can be said.
func (f *Figure) spread() float64 {
	least, most := math.Inf(1), 0.0
	for _, r := range f.Rounds {
		v := r.Value
		if f.Baseline != nil {
			v = r.Baseline
		}
		least, most = min(least, v), max(most, v)
	}
	if len(f.Rounds) < 2 || least <= 0 {
		return 1
	}
	return most / least
}

// baselines are those of rounds, as values of their own.
func baselines(rounds []Round) (values []float64) {
	for _, r := range rounds {
		values = append(values, r.Baseline)
	}
	return values
}

// percentile is the smallest of the sorted times that so many percent of them
// do not exceed.
func percentile(times []time.Duration, percent int) time.Duration {
	rank := (len(times)*percent + 99) / 100
	return times[max(rank, 1)-1]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", &r.Machine)
	var rows [][]string
	for i := range r.Figures {
		rows = append(rows, r.Figures[i].row())
	}
	if err := (&terminal.Table{To: &b, Titles: titles, Right: numeric}).Print(rows...); err != nil {
		return err
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n%s", note)
	}
	fmt.Fprintf(&b, "\nratio: value by baseline, both of the round in the middle; it took %.0f s\n", r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

var titles, numeric = []string{"figure", "value", "unit", "baseline", "ratio", "beside", "meaning"}, []int{1, 3, 4}

func (f *Figure) row() []string {
	return []string{f.Name, number(f.Value), f.Unit, orDash(f.Baseline), orDash(f.Ratio), f.BaselineOf, f.Meaning}
}

func orDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return number(*v)
}

// number has two significant digits or more, down to a tenth of a thousandth,
// and commas between thousands.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.1:
		return strconv.FormatFloat(v, 'f', 4, 64)
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
