package bench_test

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"teamdata/cli/bench"
	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// tiny is a run of everything that lasts a moment.
func tiny(t testing.TB) bench.Config {
	return bench.Config{
		Program: program.Binary(t), Version: "test", Dir: t.TempDir(),
		Rounds: 1, Duration: 40 * time.Millisecond, Events: 200, Rate: 500, Members: 300,
	}
}

func measure(t *testing.T, c bench.Config) *bench.Report {
	t.Helper()
	report, err := bench.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// isEmpty fails if a run has left something in its folder.
func isEmpty(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("in the folder is left: %v %v", left, err)
	}
}

// whenSaid calls a function once a text was written.
type whenSaid struct {
	text string
	then context.CancelFunc
	said []byte
}

func (w *whenSaid) Write(p []byte) (int, error) {
	if w.said = append(w.said, p...); w.then != nil && bytes.Contains(w.said, []byte(w.text)) {
		w.then()
		w.then = nil
	}
	return len(p), nil
}
