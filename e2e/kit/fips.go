package kit

import (
	"crypto/fips140"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// EnforcesFIPS reports whether FIPS 140-3 is enforced, as with GODEBUG=fips140=only.
// Since a process can't change that for itself, the test is otherwise run in another
// one, where it is, and has nothing more to do here.
func EnforcesFIPS(t *testing.T) bool {
	t.Helper()
	if fips140.Enforced() {
		return true
	}
	path := strings.Split(t.Name(), "/")
	for i, name := range path {
		path[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", strings.Join(path, "/"))
	cmd.Env = append(os.Environ(), "GODEBUG=fips140=only")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("with FIPS 140-3 enforced: %v\n%s", err, out)
	}
	return false
}
