package docs

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/docs"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// loops are how the samples of docs/pull.md run. The one in TypeScript has to be compiled,
// which e2e/clients does.
var loops = map[string][]string{
	"sh": {"sh", "sample"}, "go": {"go", "run", "sample.go"}, "python": {"python3", "sample"}, "listen": {"sh", "sample"},
}

// ends is what a sample says when its key is refused: the server's words, or the status.
var ends = regexp.MustCompile(`revoked|401: Unauthorized`)

// Each sample of docs/pull.md gets the event that waits for it and one that comes later, and
// acknowledges both. Its endpoint, key and secret are those of the page's commands. When the
// key is revoked, it ends and says why.
func TestPullPage(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	server := program.Serve(t, data, "--seed", program.Example)
	forwarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	t.Cleanup(forwarded.Close)
	begun, keys := map[string]*program.Process{}, map[string]string{}
	for _, s := range docs.PullSamples() {
		if loops[s.ID] == nil {
			continue
		}
		folder, endpoint := t.TempDir(), "whe_"+s.ID
		runScript(t, "set -eu\nexport TEAMDATA_ORG=org_acme TEAMDATA_DATA="+data+"\n"+
			strings.ReplaceAll(block(t, "docs/pull.md", "## Set it up", 0), "whe_pull", endpoint), folder, folder)
		code := strings.NewReplacer(docs.PullURL, server.URL+"/pull/"+endpoint, "http://localhost:3000", forwarded.URL).Replace(s.Code)
		kit.WriteFile(t, filepath.Join(folder, loops[s.ID][len(loops[s.ID])-1]), code)
		cmd := exec.Command(loops[s.ID][0], loops[s.ID][1:]...)
		cmd.Dir, cmd.WaitDelay = folder, 5*time.Second // children may outlive it
		of := func(file string) string { return strings.TrimSpace(kit.ReadText(t, filepath.Join(folder, file))) }
		cmd.Env = append(os.Environ(), "CURL_CA_BUNDLE="+server.CAFile, "SSL_CERT_FILE="+server.CAFile,
			"TEAMDATA_KEY="+of("pull.key"), "WEBHOOK_SECRET="+of("pull.secret"),
			"PATH="+filepath.Dir(program.Binary(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
		begun[s.ID] = program.Begin(t, cmd)
		keys[s.ID], _, _ = strings.Cut(of("pull.key"), ".")
	}
	if len(begun) != len(loops) {
		t.Fatalf("docs/pull.md has %d samples", len(begun))
	}
	at := []string{"--org", "org_acme", "--data", data}
	for id, loop := range begun {
		acknowledges := func(events int) {
			loop.Await("the acknowledgment by "+id, func() bool {
				list := program.MustRun(t, append(at, "delivery", "list", "--endpoint", "whe_"+id, "--state", "acknowledged", "--quiet")...)
				return strings.Count(list, "whd_") == events
			})
		}
		acknowledges(1)
		later := strings.TrimSpace(program.MustRun(t, append(at, "endpoint", "test", "whe_"+id, "--quiet")...))
		loop.Says(later)
		acknowledges(2)
	}
	for id, loop := range begun {
		program.MustRun(t, append(at, "key", "revoke", keys[id], "--yes")...)
		program.MustRun(t, append(at, "endpoint", "test", "whe_"+id)...)
		if loop.Ended(); !ends.MatchString(loop.Out.String()) {
			t.Errorf("%s ends with\n%s", id, loop.Out)
		}
	}
}
