package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/orgs"
)

// somePassed is what the suite says of a scenario whose checks applied.
var somePassed = regexp.MustCompile(`Passed: [1-9].*`)

// TestMCPConformance runs the scenarios of the protocol's conformance suite that apply
// to a server with tools that keeps no state. The environment variable MCP_CONFORMANCE
// is where the suite is installed.
//
// The others need sessions, resources, prompts, completion, logging, sampling or
// elicitation, which this server doesn't offer, or call tools that the suite wants for
// its tests. Single checks that do so are in e2e/mcp/testdata/not_offered.yaml.
func TestMCPConformance(t *testing.T) {
	kit.OnlyAtSize(t)
	suite := filepath.Join(os.Getenv("MCP_CONFORMANCE"), "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	if _, err := os.Stat(suite); err != nil {
		kit.MustSkip(t, "MCP_CONFORMANCE names no folder with the suite; get one with: npm install --prefix FOLDER @modelcontextprotocol/conformance; it needs Node.js 22")
	}
	_, srv := newServer(t)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer key_both."+orgs.Secret) // the suite sends no key
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	for version, scenarios := range map[string][]string{
		"2025-06-18": {"server-initialize", "ping", "tools-list"},
		"2025-11-25": {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
		"2026-07-28": {"server-stateless", "tools-list", "caching", "dns-rebinding-protection", "server-sse-multiple-streams", "http-header-validation"},
	} {
		for _, scenario := range scenarios {
			t.Run(version+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				run := exec.CommandContext(t.Context(), "node", suite, "server", "--url", h.URL+path, "--scenario", scenario,
					"--spec-version", version, "--expected-failures", "e2e/mcp/testdata/not_offered.yaml")
				said, err := run.CombinedOutput()
				passed := somePassed.Find(said)
				if err != nil || passed == nil {
					t.Errorf("%v\n%s", err, said)
				}
				t.Logf("%s", passed)
			})
		}
	}
}
