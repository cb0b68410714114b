package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// clientServer is a server with the example org, an operator token of it, and a
// front before it.
type clientServer struct {
	*program.Process
	socket, token, front string
}

func serveClients(t *testing.T, flags ...string) clientServer {
	t.Helper()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	flags = append(flags, "--seed", program.Example, "--key-rate", "0", "--client-rate", "0", "--allow-endpoint-cidr", "127.0.0.0/8")
	s := clientServer{Process: program.Serve(t, data, flags...), socket: data + ".sock"}
	said := program.MustRun(t, "operator-token", "create", "--name", "clients", "--quiet", "--data", data)
	s.token, _, _ = strings.Cut(said, "\n")
	s.front = openFront(t, s.Process)
	return s
}

// openFront opens a proxy in front of a server. The path says what happens to the first
// requests: /lost,cut/id/api/v1/… loses the answer to the first one, and cuts off that
// to the second. /seen/lost,cut/id answers what was requested, with the
// Idempotency-Keys.
func openFront(t *testing.T, p *program.Process) string {
	t.Helper()
	target, err := url.Parse(p.URL)
	kit.Must(t, err)
	proxy := &httputil.ReverseProxy{Transport: p.Client.Transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	var mu sync.Mutex
	seen := map[string][]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if way, ok := strings.CutPrefix(r.URL.Path, "/seen/"); ok {
			json.NewEncoder(w).Encode(append([]string{}, seen[way]...))
			mu.Unlock()
			return
		}
		faults, rest, _ := strings.Cut(r.URL.Path[1:], "/")
		id, path, _ := strings.Cut(rest, "/")
		way := faults + "/" + id
		fault := append(strings.Split(faults, ","), make([]string, 100)...)[len(seen[way])]
		r.URL.Path = "/" + path
		seen[way] = append(seen[way], strings.TrimSpace(r.Method+" /"+path+" "+r.Header.Get("Idempotency-Key")))
		mu.Unlock()
		suffer(w, r, fault, proxy)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// suffer answers a request with a fault that a client has to cope with.
func suffer(w http.ResponseWriter, r *http.Request, fault string, proxy http.Handler) {
	refuse := func(status int, code, retryAfter string) {
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%q,"message":"Refused by the front."}}`, code)
	}
	switch fault {
	case "":
		proxy.ServeHTTP(w, r)
	case "lost", "cut": // executed, and the answer does not come, or not whole
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		if fault == "cut" {
			w.Header().Set("Content-Length", fmt.Sprint(answer.Body.Len()))
			w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
			http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	case "slow":
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	case "limited":
		refuse(http.StatusTooManyRequests, "rateLimited", "1")
	case "unavailable":
		refuse(http.StatusServiceUnavailable, "unavailable", "1")
	case "patience":
		refuse(http.StatusServiceUnavailable, "unavailable", "60")
	case "later":
		refuse(http.StatusServiceUnavailable, "unavailable", "61")
	case "running":
		refuse(http.StatusConflict, "conflict", "")
	case "proxy":
		http.Error(w, "<h1>Bad gateway</h1>", http.StatusBadGateway)
	}
}

const typescript = "contrib/clients/typescript"

// The tests of the TypeScript client, which are written in it.
func TestTypeScriptClient(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	compileTypeScript(t)
	s := serveClients(t)
	node := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", typescript+"/dist/test/")
	node.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+s.CAFile, "SERVER="+s.URL, "FRONT="+s.front,
		"READ_KEY="+program.ReadKey, "WRITE_KEY="+program.WriteKey, "OPERATOR_TOKEN="+s.token,
		"VECTORS=testdata/vectors/signatures.json", "OPENAPI=wire/openapi/openapi.json", "PULL_OPENAPI=wire/openapi/pull.json", "ADMIN_OPENAPI=wire/openapi/admin.json")
	out, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if passed := regexp.MustCompile(`ℹ pass (\d+)`).FindSubmatch(out); passed == nil || len(passed[1]) < 2 {
		t.Errorf("it has too few tests:\n%s", out)
	}
}

var compiled sync.Once

// compileTypeScript compiles the client, and then its tests, which may use what Node
// alone has.
func compileTypeScript(t *testing.T) {
	t.Helper()
	typeScriptModules(t) // each test skips by itself, not only the first
	compiled.Do(func() {
		compile(t, typescript+"/tsconfig.json")
		compile(t, typescript+"/test/tsconfig.json")
	})
}

// compile compiles a project by the compiler of the TypeScript client.
func compile(t *testing.T, project string) {
	t.Helper()
	tsc := filepath.Join(typeScriptModules(t), ".bin/tsc")
	if out, err := exec.CommandContext(t.Context(), tsc, "--project", project).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// typeScriptModules is the folder of the tools and libraries of the TypeScript client.
func typeScriptModules(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			kit.MustSkip(t, tool+" is not installed: apt-get install nodejs npm")
		}
	}
	modules, err := filepath.Abs(typescript + "/node_modules")
	kit.Must(t, err)
	if _, err := os.Stat(modules); err != nil {
		kit.MustSkip(t, "the libraries are not installed: npm ci --prefix "+typescript)
	}
	return modules
}

// moduleCache is the module cache in the form of a proxy.
func moduleCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	kit.Must(t, err)
	return "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(out)), "cache/download"))
}

// Copied as docs/clients.md says, the Go client compiles in a module that has nothing
// else.
func TestGoClientCanBeCopied(t *testing.T) {
	commands := regexp.MustCompile("(?ms)^```sh copy\n(.*?)^```$").FindStringSubmatch(kit.ReadText(t, "docs/clients.md"))
	if commands == nil {
		t.Fatal("docs/clients.md does not say how to copy the client")
	}
	root, err := os.Getwd()
	kit.Must(t, err)
	folder := t.TempDir()
	kit.Must(t, os.Symlink(root, filepath.Join(folder, "teamdata")))
	kit.WriteFile(t, filepath.Join(folder, "go.mod"), "module example.com/yours\n\ngo 1.26\n")
	run := exec.CommandContext(t.Context(), "sh", "-euc", commands[1]+"rm teamdata\ngo vet ./...\n")
	run.Dir, run.Env = folder, append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(folder, "api/teamdata/admin/client.go")); err != nil {
		t.Error(err)
	}
}
