package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"teamdata/client/admin"
	"teamdata/docs"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The programs on docs/clients.md that pull, and the loop in TypeScript on docs/pull.md, get
// the event that waits and one that comes later, and acknowledge both. Those of the clients
// end well when they are asked to.
func TestClientsDocPull(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	programs := programsInDocs(t)
	s := serveClients(t)
	c, ctx := admin.OverSocket(s.socket), t.Context()
	compileTypeScript(t)
	folder := installTypeScript(t)
	node := func(name, text string) *exec.Cmd {
		kit.WriteFile(t, filepath.Join(folder, name+".ts"), text)
		compile(t, filepath.Join(folder, "tsconfig.json"))
		return exec.CommandContext(t.Context(), "node", filepath.Join(folder, name+".js"))
	}
	for name, command := range map[string]func(url string) *exec.Cmd{
		"go":   func(string) *exec.Cmd { return goProgram(t, "pull", programs["go pull"]) },
		"ts":   func(string) *exec.Cmd { return node("pull", programs["ts pull"]) },
		"loop": func(url string) *exec.Cmd { return node("loop", strings.Replace(loopInDocs(t), docs.PullURL, url, 1)) },
	} {
		endpoint := done(c.CreateEndpoint(ctx, "org_acme", admin.NewEndpoint{Kind: new("pull"), Events: []string{"*"}}))
		key := done(c.CreateKey(ctx, "org_acme", admin.NewAPIKey{Scopes: admin.Scopes{"receive"}, CreatedBy: "usr_ada"}))
		waiting := done(c.TestEndpoint(ctx, "org_acme", endpoint.ID, admin.Test{}))
		cmd := command(s.URL + "/pull/" + endpoint.ID)
		cmd.Env = append(os.Environ(), "TEAMDATA_URL="+s.URL, "TEAMDATA_CA="+s.CAFile, "NODE_EXTRA_CA_CERTS="+s.CAFile,
			"TEAMDATA_KEY="+*key.Key, "TEAMDATA_ENDPOINT="+endpoint.ID, "WEBHOOK_SECRETS="+*endpoint.Secret)
		p := program.Begin(t, cmd)
		acknowledges := func(id string) {
			t.Helper()
			p.Says(id)
			p.Await("the acknowledgment by "+name, func() bool { return done(c.ReadDelivery(ctx, "org_acme", id)).State == "acknowledged" })
		}
		acknowledges(waiting.ID)
		acknowledges(done(c.TestEndpoint(ctx, "org_acme", endpoint.ID, admin.Test{})).ID)
		p.Cmd.Process.Signal(syscall.SIGTERM)
		if status := p.Ended(); name != "loop" && status != 0 {
			t.Errorf("%s ends with %d\n%s", name, status, p.Out)
		}
	}
}

// loopInDocs is the sample in TypeScript of docs/pull.md.
func loopInDocs(t *testing.T) string {
	for _, sample := range docs.PullSamples() {
		if sample.ID == "ts" {
			return sample.Code
		}
	}
	t.Fatal("docs/pull.md has no sample in TypeScript")
	return ""
}
