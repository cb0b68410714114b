package kit

import "testing"

// Only a step that runs the whole name, in the package, at a size, is one that runs a test.
func TestRuns(t *testing.T) {
	const line = `kills | 20 | 100 | go test ./e2e/kill ./contrib/... -count=1 -run '^(TestKilled|TestRelease)$' -v -args -size {}`
	for _, row := range []struct {
		line, here, test string
		want             bool
	}{
		{line, "./e2e/kill", "TestKilled", true},
		{line, "./contrib", "TestRelease", true},
		{line, "./contrib/clients/go", "TestRelease", true},
		{line, "./e2e/kill", "TestKill", false},
		{line, "./e2e/kill", "TestKilledTwice", false},
		{line, "./e2e", "TestKilled", false},
		{line, "./e2e/kill/more", "TestKilled", false},
		{"#" + line, "./e2e/kill", "TestKilled", false},
		{`kills | - | - | go test ./e2e/kill -run TestKilled`, "./e2e/kill", "TestKilled", false},
		{`kills | = | = | go test ./e2e/kill -args -size 100`, "./e2e/kill", "TestKilled", false},
	} {
		if got := runs(row.line, row.here, row.test); got != row.want {
			t.Errorf("%q runs %s of %s: %v", row.line, row.test, row.here, got)
		}
	}
}
