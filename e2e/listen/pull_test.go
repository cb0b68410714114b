package listen

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

const pullKey = "key_pull.example-receiver-secret"

// pullSeed is an org with an endpoint to pull from.
const pullSeed = `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner"}],
	"apiKeys":[{"id":"key_write","secret":"example-writer-secret","scopes":["write"],"createdBy":"usr_ada"},
		{"id":"key_pull","secret":"example-receiver-secret","scopes":["receive"],"endpoints":["whe_pull"],"createdBy":"usr_ada"}],
	"webhooks":[{"id":"whe_pull","kind":"pull","secret":"` + hookSecret + `","events":["webhook.test"]}]}]}`

// pulled is a server behind a proxy, and an application that gets what listen pulls from it.
type pulled struct {
	*program.Data
	server *program.Process
	flags  []string
	proxy  *postgres.Proxy
	url    string // of the endpoint, by way of the proxy
	app    *httptest.Server
	mu     sync.Mutex
	status int // that the application answers
	got    []string
}

func newPulled(t *testing.T) *pulled {
	t.Helper()
	p := &pulled{Data: &program.Data{T: t, At: filepath.Join(t.TempDir(), "teamdata.db")}, status: http.StatusNoContent}
	p.server = p.Serve("--seed", kit.NewFile(t, "seed.json", pullSeed))
	at, err := url.Parse(p.server.URL)
	kit.Must(t, err)
	port, err := strconv.Atoi(at.Port())
	kit.Must(t, err)
	p.flags = []string{"--listen", at.Host}
	p.proxy = postgres.NewProxy(t, &postgres.Server{Port: port})
	front, err := url.Parse(p.proxy.URL("any"))
	kit.Must(t, err)
	p.url = "https://" + front.Host + "/pull/whe_pull"
	p.app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.got = append(p.got, q.Header.Get("webhook-id"))
		if q.Header.Get("Content-Type") != "application/json" || q.Header.Get("webhook-signature") == "" || q.Header.Get("webhook-timestamp") == "" {
			t.Errorf("the application got %v", q.Header)
		}
		w.WriteHeader(p.status)
	}))
	t.Cleanup(p.app.Close)
	return p
}

// command is a listen that pulls, with further flags.
func (p *pulled) command(flags ...string) *exec.Cmd {
	args := []string{"listen", "--pull", p.url, "--key-file", kit.NewFile(p, "pull.key", pullKey+"\n"), "--secret-file", secretFile(p.T, hookSecret), "--ca-file", p.server.CAFile}
	return exec.Command(program.Binary(p), append(args, flags...)...)
}

func (p *pulled) listen(flags ...string) *program.Process {
	p.Helper()
	l := program.Begin(p, p.command(flags...))
	l.Says("Events:")
	return l
}

// send sends an event, and returns its id.
func (p *pulled) send() string {
	p.Helper()
	answer := p.server.Must("POST", "/webhooks/whe_pull/test", program.WriteKey)
	var sent struct{ ID string }
	if json.Unmarshal([]byte(answer.Body), &sent) != nil || sent.ID == "" {
		p.Fatalf("answered %d %s", answer.Status, answer.Body)
	}
	return sent.ID
}

// arrives waits until the application has got an event.
func (p *pulled) arrives(l *program.Process, id string) {
	p.Helper()
	l.Await(id, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.got, id)
	})
}

func (p *pulled) answer(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

// reason waits until a delivery was given back, and returns why.
func (p *pulled) reason(l *program.Process, id string) (reason string) {
	p.Helper()
	l.Await("that "+id+" is given back", func() bool {
		var d struct {
			State   string
			History []struct{ Reason string }
		}
		said := p.MustRun("delivery", "show", id, "--org", "org_acme", "--json")
		kit.Must(p, json.Unmarshal([]byte(said), &d))
		if d.State != "retrying" {
			return false
		}
		reason = d.History[len(d.History)-1].Reason
		return true
	})
	return reason
}

// What is pulled is printed, verified and passed on, and acknowledged only if the application
// took it; through a restart of the server and a line that is cut, until the key is revoked.
func TestListenPulls(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	l := p.listen("--forward", p.app.URL+"/hook")
	first := p.send()
	p.arrives(l, first)
	l.Says("  pull     " + p.url + "\n  secrets  1, to verify events with\n  answer   that of " + p.app.URL + "/hook\n")
	l.Says("  webhook.test  " + first + "  verified\n  {\n    \"type\": \"webhook.test\",\n")

	p.answer(http.StatusInternalServerError)
	refused := p.send()
	p.arrives(l, refused)
	if reason := p.reason(l, refused); reason != "answered 500 Internal Server Error" {
		t.Errorf("it was given back since %q", reason)
	}
	l.Says(refused + "  verified, answered 500\n")
	p.answer(http.StatusNoContent)

	p.server.StopWell()
	l.Says("; trying again in ")
	p.server = p.Serve(p.flags...)
	p.arrives(l, p.send())

	before := strings.Count(l.Out.String(), "; trying again in ")
	p.proxy.Down()
	waiting := p.send()
	outage := kit.Size(2, 7) // attempts: 7 take about a minute
	if !kit.Until(2*time.Minute, func() bool { return strings.Count(l.Out.String(), "; trying again in ") >= before+outage }) {
		t.Fatalf("it did not try again:\n%s", l.Out)
	}
	p.proxy.Up()
	if !kit.Until(2*time.Minute, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.got, waiting)
	}) {
		t.Fatalf("it did not go on:\n%s", l.Out)
	}

	p.MustRun("key", "revoke", "key_pull", "--org", "org_acme", "--yes")
	p.send() // ends the wait
	if status := l.Ended(); status != 1 {
		t.Errorf("it ended with %d", status)
	}
	l.Says("teamdata: the server refused the API key: 401 unauthorized: The API key was revoked.")
	l.Says("\n  hint: create one with: teamdata key create --scopes receive\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Sort(p.got); len(slices.Compact(slices.Clone(p.got))) != len(p.got) {
		t.Errorf("the application got %q", p.got)
	}
}

// An application that is away is the reason, and what does not verify is printed as refused.
func TestListenPullRefuses(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	p.app.Close()
	l := p.listen("--forward", p.app.URL)
	id := p.send()
	if reason := p.reason(l, id); !strings.HasPrefix(reason, p.app.URL+" can't be reached: ") {
		t.Errorf("it was given back since %q", reason)
	}
	l.StopWell()

	id = p.send()
	cmd := p.command()
	cmd.Args = append(cmd.Args, "--secret-file", secretFile(t, anotherSecret))
	l = program.Begin(t, cmd)
	l.Says("  webhook.test  " + id + "  REFUSED, answered 400: the webhook does not verify: no signature fits the body and a secret\n")
	if reason := p.reason(l, id); reason != "the webhook does not verify: no signature fits the body and a secret" {
		t.Errorf("it was given back since %q", reason)
	}
	l.StopWell()
}

// It ends with 0 when the events of --count were acknowledged, and with 1 when they don't come.
func TestListenPullCount(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	const count = 30
	var ids []string
	for range 2 * count {
		ids = append(ids, p.send())
	}
	ids = ids[:count] // what it does not print is left for others
	out, err := p.command("--json", "--count", strconv.Itoa(count), "--timeout", "1m").Output()
	if err != nil {
		t.Fatalf("it ended with %v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		var e struct {
			ID       string
			Verified bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || !e.Verified {
			t.Errorf("%v: %s", err, line)
		}
		got = append(got, e.ID)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("it printed %q, not %q", got, ids)
	}
	l := program.Begin(t, p.command("--count", "1", "--timeout", "1ms"))
	if status := l.Ended(); status != 1 || !strings.Contains(l.Out.String(), "teamdata: 0 of 1 verified events came within 1ms\n") {
		t.Errorf("it ended with %d\n%s", status, l.Out)
	}
}

// What is wrong with the flags ends it with 2, and what waiting does not cure with 1.
func TestListenPullSettings(t *testing.T) {
	t.Parallel()
	key, secret := kit.NewFile(t, "pull.key", pullKey), secretFile(t, hookSecret)
	empty := kit.NewFile(t, "empty.key", "key_pull\n")
	for want, flags := range map[string][]string{
		"--key-file and --ca-file are for --pull":            {"--key-file", key},
		"--pull needs an API key":                            {"--pull", "https://data.example.com/pull/whe_1", "--secret-file", secret},
		"--pull needs the endpoint's secret":                 {"--pull", "https://data.example.com/pull/whe_1", "--key-file", key},
		`--pull "https://data.example.com/whe_1" is not`:     {"--pull", "https://data.example.com/whe_1", "--key-file", key, "--secret-file", secret},
		`--pull "https://data.example.com/pull/a/b" is not`:  {"--pull", "https://data.example.com/pull/a/b", "--key-file", key, "--secret-file", secret},
		"the API key can't go over plain HTTP; use https://": {"--pull", "http://data.example.com/pull/whe_1", "--key-file", key, "--secret-file", secret},
		"does not hold an API key":                           {"--pull", "https://data.example.com/pull/whe_1", "--key-file", empty, "--secret-file", secret},
		"--key-file: open ":                                  {"--pull", "https://data.example.com/pull/whe_1", "--key-file", filepath.Join(t.TempDir(), "none"), "--secret-file", secret},
		"--http is for events that are sent here":            {"--pull", "https://data.example.com/pull/whe_1", "--key-file", key, "--secret-file", secret, "--http"},
	} {
		program.Refused(t, 2, want, append([]string{"listen"}, flags...)...)
	}
	p := newPulled(t)
	cmd := p.command()
	cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--ca-file" || arg == p.server.CAFile })
	for what, cmd := range map[string]*exec.Cmd{
		"certificate was issued by a CA that is not trusted here": cmd,
		"the server answered 404 notFound":                        exec.Command(cmd.Path, append(p.command().Args[1:], "--pull", strings.Replace(p.url, "whe_pull", "whe_none", 1))...),
	} {
		cmd.Env = os.Environ()
		out, err := cmd.CombinedOutput()
		if failed, ok := err.(*exec.ExitError); !ok || failed.ExitCode() != 1 || !strings.Contains(string(out), what) {
			t.Errorf("%s: it ended with %v\n%s", what, fmt.Sprint(err), out)
		}
	}
}
