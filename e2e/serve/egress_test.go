package serve_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// connectTo is a proxy that wants an Authorization, and connects every target to one address.
func connectTo(t *testing.T, l net.Listener, authorization, to string) {
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(func() { l.Close() })
	speak := func(c net.Conn) {
		defer c.Close()
		r := bufio.NewReader(c)
		q, err := http.ReadRequest(r)
		switch {
		case err != nil:
		case q.Header.Get("Proxy-Authorization") != authorization:
			io.WriteString(c, "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n")
		case q.Method != http.MethodConnect:
			io.WriteString(c, "HTTP/1.1 405 No\r\n\r\n")
		default:
			receiver, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			go func() {
				io.Copy(receiver, r)
				receiver.Close()
			}()
			io.Copy(c, receiver)
		}
	}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go speak(c)
		}
	})
}

// While the egress proxy is down, and while it refuses the password, readiness, log, metrics
// and doctor say so, and no attempt is counted; then what waits goes out by itself. The
// password is in nothing that the program says.
func TestEgressProxy(t *testing.T) {
	t.Parallel()
	const user, secret = "ann:s3cr3t-pa55", "s3cr3t-pa55"
	encoded := base64.StdEncoding.EncodeToString([]byte(user))
	arrived := make(chan bool, 9)
	hook, ca := program.ServeTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- true }))
	receiver := strings.TrimSuffix(strings.TrimPrefix(hook, "https://"), "/hook")
	address, data := kit.Reserved(t), filepath.Join(t.TempDir(), "teamdata.db")
	seed := kit.NewFile(t, "seed.json", `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner"}],
		"apiKeys":[{"id":"key_w","secret":"s3cret","name":"w","scopes":["write"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_1","url":"https://example.com/hook","events":["member.added"]}]}]}`)
	url := "http://" + user + "@" + address
	cmd := exec.Command(program.Binary(t), "serve", "--data", data, "--seed", seed, "--listen", "127.0.0.1:0", "--webhook-ca", ca, "--egress-proxy-resolves", "--metrics", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "TEAMDATA_EGRESS_PROXY_FILE="+kit.NewFile(t, "proxy", url+"\n"), "HTTPS_PROXY=http://127.0.0.1:1")
	p := program.BeginServing(t, cmd)
	p.Says("with --egress-proxy-resolves the proxy decides")
	p.AwaitHealth(200, "ok")
	metrics := p.MetricsURL()
	if up := program.Scraped(t, http.DefaultClient, metrics)["teamdata_egress_proxy_up"]; up != 1 {
		t.Errorf("teamdata_egress_proxy_up is %g before the first webhook", up)
	}
	p.Must("POST", "/webhooks/whe_1/test", "key_w.s3cret")
	p.AwaitHealth(200, "ok\negress proxy: it can't be reached; webhooks wait")
	p.Says("connection refused")
	said := []string{kit.Get(t, http.DefaultClient, metrics).Body}
	scraped := program.Scraped(t, http.DefaultClient, metrics)
	if up, there := scraped["teamdata_egress_proxy_up"]; !there || up != 0 || scraped["teamdata_egress_proxy_given_back_total"] < 1 {
		t.Errorf("the metrics of the proxy: up %g, given back %g", up, scraped["teamdata_egress_proxy_given_back_total"])
	}
	_, ready := p.Health("/readyz")
	doctor := func(want string) {
		t.Helper()
		out, _ := program.Run(t, "doctor", "--data", data, "--egress-proxy", url, "--egress-proxy-resolves", "--online")
		if said = append(said, out); !strings.Contains(out, want) || !strings.Contains(out, "the proxy decides which addresses webhooks reach") {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
	doctor("the proxy " + address + " can't be reached")

	other := kit.ListenOn(t, address)
	connectTo(t, other, "Basic other", receiver)
	p.AwaitHealth(200, "ok\negress proxy: it answered 407")
	doctor("the proxy " + address + " answered 407")
	other.Close()
	connectTo(t, kit.ListenOn(t, address), "Basic "+encoded, receiver)
	<-arrived
	p.Await("readiness without a warning", func() bool {
		_, body := p.Health("/readyz")
		return body == "ok\n"
	})
	p.Says("the egress proxy works again")
	doctor(address + " answers")
	var list []struct{ Attempts int }
	deliveries := program.MustRun(t, "delivery", "list", "--org", "org_acme", "--endpoint", "whe_1", "--data", data, "--json")
	if err := json.Unmarshal([]byte(deliveries), &list); err != nil || len(list) != 1 || list[0].Attempts != 1 {
		t.Errorf("the deliveries are %s (%v)", deliveries, err)
	}
	said = append(said, ready, deliveries, kit.Get(t, http.DefaultClient, metrics).Body, program.MustRun(t, "status", "--data", data, "--json"),
		program.MustRun(t, "config", "--egress-proxy", url), program.MustRun(t, "export", "--data", data, filepath.Join(t.TempDir(), "export.json")))
	if cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Cmd.Process.Pid)); err == nil {
		said = append(said, string(cmdline))
	}
	p.StopWell()
	for _, text := range append(said, p.Out.String(), kit.ReadText(t, data)) {
		if slices.ContainsFunc([]string{secret, encoded}, func(s string) bool { return strings.Contains(text, s) }) {
			t.Errorf("the password is in %s", text)
		}
	}
}
