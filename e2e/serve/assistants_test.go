package serve_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// What docs/assistants.md says works as it is pasted, with the address and the CA file
// of a server in place of those on the page; and its configurations are JSON.
func TestAssistantsPage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		kit.MustSkip(t, "curl is not installed")
	}
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example)
	page := kit.ReadText(t, "docs/assistants.md")
	_, section, _ := strings.Cut(page, "\n## Try it\n")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)
	if block == nil {
		t.Fatal("there is nothing to try")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.NewReplacer("https://data.example.com", p.URL, "teamdata.db.ca.pem", p.CAFile).Replace(block[1]))
	cmd.Env = append(os.Environ(), "TEAMDATA_KEY="+program.ReadKey)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"structuredContent":{"data":[{"id":"mem_1",`) {
		t.Errorf("%v: %s", err, out)
	}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if !json.Valid([]byte(block[1])) || !strings.Contains(block[1], "https://data.example.com/mcp") {
			t.Errorf("an assistant can't be configured with\n%s", block[1])
		}
	}
}

// An assistant finds the same tools as on the page.
func TestToolsOfThePage(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example)
	page := kit.ReadText(t, "docs/assistants.md")
	listed := map[string]bool{}
	for _, key := range []string{program.ReadKey, program.WriteKey} {
		client := &http.Client{Transport: withKey{p.Client.Transport, key}}
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: p.URL + "/mcp", HTTPClient: client, MaxRetries: -1,
		}, nil)
		kit.Must(t, err)
		defer session.Close()
		for tool, err := range session.Tools(t.Context(), nil) {
			kit.Must(t, err)
			listed[tool.Name] = true
		}
	}
	onPage := regexp.MustCompile("(?m)^\\| `([a-zA-Z]+)` \\|").FindAllStringSubmatch(page, -1)
	for _, name := range onPage {
		if !listed[name[1]] {
			t.Errorf("the tool %s of the page is not offered", name[1])
		}
	}
	if len(onPage) != len(listed) {
		t.Errorf("the page has %q, and the server %v", onPage, listed)
	}
}

// withKey sends a key with each request.
type withKey struct {
	http.RoundTripper
	key string
}

func (w withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.key)
	return w.RoundTripper.RoundTrip(r)
}
