package clients

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The versions of the generators, and of what the code needs that one of them makes.
// The other's are in clients/typescript/package.json.
const (
	oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	oapiRuntime = "github.com/oapi-codegen/runtime v1.8.0"
)

// Generators take each document as the server answers it, with their default settings:
// what they generate compiles, and calls the server. Receivers get types for the
// operator's own events.
func TestStockGenerators(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example, "--http")
	schema := filepath.Join(t.TempDir(), "schema.json")
	writeFile(t, schema, `{"type":"object","required":["invoiceId","paidBy"],"properties":{"invoiceId":{"type":"string"},"paidBy":{"type":["string","null"]}}}`)
	program.MustRun(t, "event-type", "create", "invoice.paid", "--schema-file", schema, "--data", data)
	token, _, _ := strings.Cut(program.MustRun(t, "operator-token", "create", "--name", "generators", "--quiet", "--data", data), "\n")
	for _, api := range []struct{ name, document, key string }{
		{"public", "/api/v1/openapi.yaml", program.ReadKey},
		{"admin", "/admin/v1/openapi.yaml", token},
	} {
		for language, generate := range map[string]func(t *testing.T, api, document string) *exec.Cmd{"go": generateInGo, "typescript": generateInTypeScript} {
			t.Run(language+"/"+api.name, func(t *testing.T) {
				call := generate(t, api.name, documentAt(t, p, api.document))
				call.Env = append(os.Environ(), "SERVER="+p.URL, "KEY="+api.key, "ORG=org_"+language)
				out, err := call.CombinedOutput()
				if want := kit.ReadText(t, "e2e/clients/testdata/"+api.name+".txt"); err != nil || string(out) != want {
					t.Errorf("%v: got\n%s\nwant\n%s", err, out, want)
				}
			})
		}
	}
}

// generateInGo makes a module of the document, and returns the program that uses it.
// Outside of CI what it needs has to be in the module cache: nothing is fetched.
func generateInGo(t *testing.T, api, document string) *exec.Cmd {
	folder, proxy := t.TempDir(), moduleCache(t)
	writeFile(t, filepath.Join(folder, "a.json"), document)
	writeFile(t, filepath.Join(folder, "go.mod"), "module example.com/generated\n\ngo 1.26\n\nrequire "+oapiRuntime+"\n")
	writeFile(t, filepath.Join(folder, "call", "main.go"), kit.ReadText(t, "e2e/clients/testdata/"+api+".go.txt"))
	for _, line := range []string{
		"run " + oapiCodegen + " -generate types,client -package generated -o generated.go a.json",
		"mod tidy",
		"build .",
		"build -o call/call ./call",
	} {
		step := exec.CommandContext(t.Context(), "go", strings.Fields(line)...)
		step.Dir, step.Env = folder, append(os.Environ(), "GOFLAGS=-trimpath") // so that the next run finds it built
		if os.Getenv("CI") == "" {
			step.Env = append(step.Env, "GOPROXY="+proxy, "GOSUMDB=off")
		}
		switch out, err := step.CombinedOutput(); {
		case err != nil && strings.Contains(string(out), proxy):
			kit.MustSkip(t, "the generator or what its code needs is not in the module cache: go run "+oapiCodegen+" -version, go mod download "+oapiRuntime)
		case err != nil:
			t.Fatalf("go %s: %v\n%s", line, err, out)
		}
	}
	return exec.CommandContext(t.Context(), filepath.Join(folder, "call", "call"))
}

// generateInTypeScript makes types of the document, checks them and the program that
// uses them, and returns that.
func generateInTypeScript(t *testing.T, api, document string) *exec.Cmd {
	modules := typeScriptModules(t)
	folder := t.TempDir()
	kit.Must(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	writeFile(t, filepath.Join(folder, "a.json"), document)
	writeFile(t, filepath.Join(folder, "package.json"), `{"type":"module"}`)
	writeFile(t, filepath.Join(folder, "call.ts"), kit.ReadText(t, "e2e/clients/testdata/"+api+".ts"))
	for _, line := range []string{
		"openapi-typescript a.json -o generated.ts",
		"tsc --strict --target es2022 --module nodenext --skipLibCheck --types node call.ts",
	} {
		words := strings.Fields(line)
		step := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", words[0]), words[1:]...)
		step.Dir = folder
		if out, err := step.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return exec.CommandContext(t.Context(), "node", filepath.Join(folder, "call.js"))
}

// documentAt is a document as the server answers it to anyone.
func documentAt(t *testing.T, p *program.Process, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", p.URL+path, nil)
	kit.Must(t, err)
	answer := kit.Fetch(t, p.Client, r)
	if answer.Status != http.StatusOK {
		t.Fatalf("%s is answered %d %s", path, answer.Status, answer.Body)
	}
	return answer.Body
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	kit.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	kit.Must(t, os.WriteFile(name, []byte(text), 0o600))
}
