package serve_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A server without ACME, mail, endpoints and a database connects to nobody, from its start
// through requests to its end: to no other machine, and to no name server.
func TestNoOutboundConnection(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	calls, data := filepath.Join(folder, "calls"), filepath.Join(folder, "teamdata.db")
	strace := []string{"-D", "-f", "-e", "signal=none", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", calls, program.Binary(t)}
	if out, err := exec.Command("strace", append(strace, "version")...).CombinedOutput(); err != nil {
		kit.MustSkip(t, "strace does not trace: "+string(out))
	}
	seed := kit.NewFile(t, "seed.json", `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner"}],
		"apiKeys":[{"id":"key_read","secret":"example-reader-secret","scopes":["read"],"createdBy":"usr_ada"}]}]}`)
	p := program.BeginServing(t, exec.Command("strace", append(strace, "serve", "--data", data, "--listen", "127.0.0.1:0", "--seed", seed)...))
	p.Must("GET", "/members", program.ReadKey)
	program.Open(p, program.Browser(p), p.URL+"/settings", nil)
	program.MustRun(t, "member", "add", "usr_bob", "--role", "member", "--data", data)
	p.StopWell()
	var recorded string
	end := regexp.MustCompile(fmt.Sprintf(`(?m)^%d +\+\+\+ exited with 0 \+\+\+$`, p.Cmd.Process.Pid))
	p.Await("the end of the record", func() bool {
		recorded = kit.ReadText(t, calls)
		return end.MatchString(recorded)
	})
	if !strings.Contains(recorded, "AF_UNIX") { // it looks for a server on the data, so the record has something
		t.Errorf("nothing was recorded:\n%s", recorded)
	}
	for line := range strings.Lines(recorded) {
		if strings.Contains(line, "AF_INET") {
			t.Errorf("it calls somebody: %s", line)
		}
	}
}
