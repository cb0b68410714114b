package command

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// BenchmarkStart is the time from the start of the program to its ready file,
// on a data file with 200,000 audit entries, beside that of a program that does
// nothing: this one, asked for its version. The middle of each counts.
func BenchmarkStart(b *testing.B) {
	data := filepath.Join(b.TempDir(), "teamdata.db")
	first := program.Serve(b, data, "--seed", kit.SeedOf(b, 1, 200_000))
	kit.Must(b, first.Stop())
	var starts, baselines []time.Duration
	for b.Loop() {
		begin := time.Now()
		p := program.Serve(b, data)
		starts = append(starts, time.Since(begin))
		p.Kill()
		begin = time.Now()
		kit.Must(b, exec.Command(program.Binary(b), "version").Run())
		baselines = append(baselines, time.Since(begin))
	}
	for unit, times := range map[string][]time.Duration{"ready-ms": starts, "baseline-ms": baselines} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, unit)
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStartForTests is the time from the start of a server for tests, on a new file
// with a small seed, to its ready line. The middle counts.
func BenchmarkStartForTests(b *testing.B) {
	folder := b.TempDir()
	var starts []time.Duration
	for b.Loop() {
		data := filepath.Join(folder, fmt.Sprint(len(starts), ".db"))
		begin := time.Now()
		p, _ := serveForTests(b, data, "--http", "--seed", program.Example)
		starts = append(starts, time.Since(begin))
		p.Kill()
	}
	slices.Sort(starts)
	b.ReportMetric(float64(starts[len(starts)/2].Microseconds())/1000, "ready-ms")
	b.ReportMetric(0, "ns/op")
}
