package command

import (
	"path/filepath"
	"slices"
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// How commands end: for failed work, for a wrong command line, by a second interrupt.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// refusal is a wrong command line, and a pattern of the error.
type refusal struct {
	args []string
	want string
}

// serveRefuses starts a server by each command line, which is to end with a status. Then
// what was made of a data file may be looked at.
func serveRefuses(t *testing.T, status int, refusals map[string]refusal, then ...func(t *testing.T, data string)) {
	t.Helper()
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args, data := []string{"serve", "--listen", "127.0.0.1:0"}, filepath.Join(t.TempDir(), "teamdata.db")
			if !slices.Contains(test.args, "--demo") {
				args = append(args, "--data", data)
			}
			program.Refused(t, status, test.want, append(args, test.args...)...)
			for _, look := range then {
				look(t, data)
			}
		})
	}
}

// leftNothing holds a refused start to having made no file.
func leftNothing(t *testing.T, data string) {
	if left, _ := filepath.Glob(data + "*"); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
