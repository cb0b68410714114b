package contrib_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	client "teamdata/contrib/clients/go"
	"teamdata/internal/testkit"
)

// tour is what a generated client found: the lists to their ends, an event that
// was sent twice and executed once, and a request that was refused.
type tour struct {
	Members      []string
	AuditLog     []string // who did it
	Instructions string
	ExecutedOnce bool
	Replayed     string
	Refused      string
}

var exampleTour = tour{
	Members:      []string{"usr_ada", "usr_bruno", "usr_chloe", "usr_deniz", "usr_emiko"},
	AuditLog:     strings.Fields("usr_ada usr_ada usr_ada usr_bruno usr_bruno usr_bruno usr_ada usr_ada usr_deniz nobody usr_bruno usr_ada"),
	Instructions: "Answer in English. Keep it short, and say when you are not sure.",
	ExecutedOnce: true,
	Replayed:     "true",
	Refused:      "forbidden",
}

const (
	exampleReader = "key_read.example-reader-secret"
	exampleWriter = "key_write.example-writer-secret"
)

// The clients that are generated from the API's description see the same data over
// HTTPS.
func TestGeneratedClients(t *testing.T) {
	p := testkit.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", testkit.Example)
	for name, take := range map[string]func(*testing.T, *testkit.Process) tour{"go": tourInGo, "typescript": tourInTypeScript} {
		t.Run(name, func(t *testing.T) {
			if got := take(t, p); !reflect.DeepEqual(got, exampleTour) {
				t.Errorf("got  %+v\nwant %+v", got, exampleTour)
			}
		})
	}
}

func tourInGo(t *testing.T, p *testkit.Process) (seen tour) {
	reader := client.Client{BaseURL: p.URL + "/api/v1", Key: exampleReader, HTTP: p.Client}
	writer := client.Client{BaseURL: p.URL + "/api/v1", Key: exampleWriter, HTTP: p.Client}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for more, query := true, (client.ListMembersParams{Limit: new(2)}); more; {
		page, _, err := reader.ListMembers(t.Context(), query)
		must(err)
		for _, member := range page.Data {
			seen.Members = append(seen.Members, member.UserId)
		}
		more, query.After = page.HasMore, page.Next
	}
	for more, query := true, (client.ListAuditLogParams{Limit: new(2)}); more; {
		page, _, err := reader.ListAuditLog(t.Context(), query)
		must(err)
		for _, entry := range page.Data {
			seen.AuditLog = append(seen.AuditLog, orNobody(entry.ActorId))
		}
		more, query.After = page.HasMore, page.Next
	}
	instructions, _, err := reader.GetAssistantInstructions(t.Context(), client.GetAssistantInstructionsParams{})
	must(err)
	seen.Instructions = *instructions.Instructions

	once := client.TestWebhookParams{IdempotencyKey: new("tour in Go")}
	first, _, err := writer.TestWebhook(t.Context(), "whe_hook", once)
	must(err)
	again, header, err := writer.TestWebhook(t.Context(), "whe_hook", once)
	must(err)
	seen.ExecutedOnce, seen.Replayed = first.Id == again.Id, header.Get("Idempotent-Replayed")

	_, _, err = reader.TestWebhook(t.Context(), "whe_hook", once)
	var failure *client.Failure
	if !errors.As(err, &failure) || failure.Status != http.StatusForbidden || failure.Message == "" {
		t.Fatalf("got %v", err)
	}
	seen.Refused = failure.Code
	return seen
}

func orNobody(id *string) string {
	if id == nil {
		return "nobody"
	}
	return *id
}

// The TypeScript client is made and type-checked first, with the description as it
// is now.
func tourInTypeScript(t *testing.T, p *testkit.Process) (seen tour) {
	const folder = "contrib/clients/typescript"
	typeScriptModules(t)
	if out, err := exec.CommandContext(t.Context(), "npm", "run", "build", "--prefix", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	node := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "dist/tour.js"), p.URL, "whe_hook")
	node.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+p.CAFile, "READ_KEY="+exampleReader, "WRITE_KEY="+exampleWriter)
	node.Stderr = os.Stderr
	out, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return seen
}

// typeScriptModules is the folder of the tools and libraries of the TypeScript client.
func typeScriptModules(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.MustSkip(t, tool+" is not installed: apt-get install nodejs npm")
		}
	}
	modules, err := filepath.Abs("contrib/clients/typescript/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		testkit.MustSkip(t, "the libraries are not installed: npm ci --prefix contrib/clients/typescript")
	}
	return modules
}

// The Go client is what the generator makes out of the description now. Outside of
// CI the generator has to be in the module cache: nothing is fetched.
func TestGoClientIsUpToDate(t *testing.T) {
	const folder = "contrib/clients/go"
	line := regexp.MustCompile(`(?m)^//go:generate go (.*) -o client\.gen\.go (\S+)$`).FindStringSubmatch(testkit.ReadText(t, folder+"/generate.go"))
	if line == nil {
		t.Fatal("generate.go has no line that makes client.gen.go")
	}
	made := filepath.Join(t.TempDir(), "client.gen.go")
	generate := exec.CommandContext(t.Context(), "go", append(strings.Fields(line[1]), "-o", made, line[2])...)
	generate.Dir, generate.Env = folder, os.Environ()
	proxy := moduleCache(t)
	if os.Getenv("CI") == "" {
		generate.Env = append(generate.Env, "GOPROXY="+proxy)
	}
	switch out, err := generate.CombinedOutput(); {
	case err != nil && strings.Contains(string(out), proxy):
		testkit.MustSkip(t, "the generator is not in the module cache: go generate ./"+folder)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	if testkit.ReadText(t, made) != testkit.ReadText(t, folder+"/client.gen.go") {
		t.Error("client.gen.go is not of this description: go generate ./" + folder)
	}
}

// moduleCache is the module cache in the form of a proxy.
func moduleCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(out)), "cache/download"))
}
