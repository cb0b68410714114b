package delivery

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// samples are the programs on docs/webhooks.md: each makes its code ready in a
// folder, and returns the command to run.
var samples = map[string]func(t *testing.T, folder, code string) []string{
	"go library":      goSample,
	"go standard":     goSample,
	"js library":      librarySample,
	"js standard":     scriptSample("node", "verify.mjs"),
	"python standard": pythonSample,
	"ruby standard":   rubySample,
	"sh openssl":      opensslSample,
}

// Every sample says yes or no to signed requests as it should.
func TestWebhooksDocSamples(t *testing.T) {
	blocks := readWebhooksDoc(t).blocks
	maps.DeleteFunc(blocks, func(name, _ string) bool { return name == "http" || strings.HasPrefix(name, "json ") })
	if got, want := slices.Sorted(maps.Keys(blocks)), slices.Sorted(maps.Keys(samples)); !slices.Equal(got, want) {
		t.Fatalf("docs/webhooks.md has the samples %q, and %q can be run", got, want)
	}
	requests := sampleRequests(t)
	for name, prepare := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := prepare(t, t.TempDir(), blocks[name])
			for _, r := range requests {
				if said, out := r.ask(t, command); said != r.yes {
					t.Errorf("%s: it says %t\n%s", r.name, said, out)
				}
			}
		})
	}
}

func goSample(t *testing.T, folder, code string) []string {
	t.Helper()
	program := filepath.Join(folder, "verify")
	build := exec.CommandContext(t.Context(), tool(t, "go"), "build", "-o", program, writeSample(t, folder, "main.go", code))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{program}
}

func scriptSample(interpreter, file string) func(*testing.T, string, string) []string {
	return func(t *testing.T, folder, code string) []string {
		return []string{tool(t, interpreter), writeSample(t, folder, file, code)}
	}
}

// librarySample imports from node_modules beside it.
func librarySample(t *testing.T, folder, code string) []string {
	node, npm := findNode(t)
	modules, err := filepath.Abs(filepath.Join(npm, "node_modules"))
	if err == nil {
		err = os.Symlink(modules, filepath.Join(folder, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{node, writeSample(t, folder, "verify.mjs", code)}
}

// pythonSample goes around a shim that python3 may be, which takes longer than
// the sample.
func pythonSample(t *testing.T, folder, code string) []string {
	out, err := exec.CommandContext(t.Context(), tool(t, "python3"), "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{strings.TrimSpace(string(out)), writeSample(t, folder, "verify.py", code)}
}

// rubySample is skipped in CI too.
func rubySample(t *testing.T, folder, code string) []string {
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("ruby is not installed: apt-get install ruby")
	}
	return scriptSample("ruby", "verify.rb")(t, folder, code)
}

func opensslSample(t *testing.T, folder, code string) []string {
	tool(t, "openssl")
	return scriptSample("sh", "verify.sh")(t, folder, code)
}

func tool(t *testing.T, name string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		mustSkip(t, name+" is not installed")
	}
	return path
}

func writeSample(t *testing.T, folder, file, code string) (path string) {
	t.Helper()
	path = filepath.Join(folder, file)
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask runs a sample on the request. It says yes with status 0, no with 1.
func (r sampleRequest) ask(t *testing.T, command []string) (yes bool, out []byte) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Stdin = strings.NewReader(r.body)
	c.Env = append(os.Environ(), "WEBHOOK_SECRETS="+strings.Join(r.secrets, " "))
	for name, value := range map[string]string{"ID": r.id, "TIMESTAMP": r.timestamp, "SIGNATURE": r.signature} {
		if value != "" {
			c.Env = append(c.Env, "HTTP_WEBHOOK_"+name+"="+value)
		}
	}
	out, err := c.CombinedOutput()
	exit, ended := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ended || exit.ExitCode() != 1) {
		t.Fatalf("%s: %v\n%s", r.name, err, out)
	}
	return err == nil, out
}
