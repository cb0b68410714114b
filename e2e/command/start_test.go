package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// No package makes much before it is needed: every command would wait for it.
func TestCommandsStartLean(t *testing.T) {
	const most, mostOfOne = 700 << 10, 128 << 10 // bytes
	cmd := exec.Command(program.Binary(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, err := cmd.CombinedOutput()
	kit.Must(t, err)
	all := 0
	for _, line := range regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes, `).FindAllStringSubmatch(string(said), -1) {
		n := 0
		fmt.Sscan(line[2], &n)
		if all += n; n > mostOfOne {
			t.Errorf("%s allocates %d bytes at each start", line[1], n)
		}
	}
	if all == 0 || all > most {
		t.Errorf("all packages together allocate %d bytes at each start\n%s", all, said)
	}
}

// A server gives back the memory that only its start needed.
func TestMemoryOfTheStartIsGivenBack(t *testing.T) {
	t.Setenv("GODEBUG", "gctrace=1")
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"))
	p.Await("a collection that was asked for", func() bool { return strings.Contains(p.Out.String(), "(forced)") })
}
