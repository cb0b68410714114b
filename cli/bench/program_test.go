package bench_test

import (
	"os"
	"testing"

	"teamdata/cli"
)

// asProgram is in the environment of what is measured.
const asProgram = "BENCH_TEST_AS_PROGRAM"

// TestMain is teamdata in the processes that a test starts to measure them: without a word
// about it, what is measured is the program that runs. Runs by the built program are in
// e2e/bench.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main("test"))
	}
	os.Setenv(asProgram, "1")
	os.Setenv("GOGC", "400") // as main has it
	os.Exit(m.Run())
}
