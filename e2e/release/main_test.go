package release

import (
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
