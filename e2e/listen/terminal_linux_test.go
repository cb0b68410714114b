package listen

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// Colours are for terminals, and for those who want them.
func TestListenColours(t *testing.T) {
	const green = "\x1b[1;32mverified\x1b[0m"
	for name, test := range map[string]struct {
		terminal    bool
		environment string
		want        bool
	}{
		"terminal":      {true, "NO_COLOR=", true},
		"NO_COLOR":      {true, "NO_COLOR=1", false},
		"dumb terminal": {true, "TERM=dumb", false},
		"pipe":          {false, "NO_COLOR=", false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program.Binary(t), listenArgs(t, []string{"--secret-file", secretFile(t, hookSecret)})...)
			cmd.Env = append(os.Environ(), "TERM=xterm", test.environment)
			out := kit.NewOutput()
			if test.terminal {
				cmd.Stdout = program.OpenTerminal(t, out)
			}
			p := startListening(t, cmd)
			if !test.terminal {
				out = p.Out
			}
			mustSend(p, "whd_1", hookSecret, 204)
			p.Await("the event", func() bool { return strings.Contains(out.String(), "usr_ada") })
			if strings.Contains(out.String(), green) != test.want || strings.Contains(out.String(), "\x1b") != test.want {
				t.Errorf("it printed %q", out)
			}
		})
	}
}
