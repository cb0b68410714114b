package proxy_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// upstream is a server behind a proxy.
type upstream struct {
	plain, tls string // its addresses, for HTTP and for TLS
	ca         string // the file of the CA of its certificate for localhost
}

// fronts are the proxies of the docs, in front of one server or of three nodes, which here are
// one and the same.
var fronts = map[string]func(t *testing.T, u upstream) *program.Process{
	"nginx": func(t *testing.T, u upstream) *program.Process {
		return program.Connect(t, "http://"+nginx(t, nginxHTTP(t, u.plain)), "")
	},
	"haproxy": func(t *testing.T, u upstream) *program.Process {
		site, ca := newSite(t)
		front := haproxy(t, pasted(blockOf(t, "docs/proxies.md", "haproxy", "defaults"),
			[]string{"127.0.0.1:8080", u.plain, "bind :443", "bind FRONT", "/etc/haproxy/site.pem", site}))
		return program.Connect(t, "https://"+front, ca)
	},
	"nginx for nodes":   func(t *testing.T, u upstream) *program.Process { return balancer(t, "nginx", u) },
	"haproxy for nodes": func(t *testing.T, u upstream) *program.Process { return balancer(t, "haproxy", u) },
}

func balancer(t *testing.T, name string, u upstream) *program.Process {
	t.Helper()
	site, ca := newSite(t)
	front := balancers[name](t, site, u.ca, []string{"node-1:8443", u.tls, "node-2:8443", u.tls, "node-3:8443", u.tls})
	return program.Connect(t, "https://"+front, ca)
}

// fetch makes a request on a connection of its own, with time for a pull to wait.
func fetch(front *program.Process, q *http.Request) (kit.Answer, error) {
	return kit.TryFetch(&http.Client{Transport: front.Transport(), Timeout: 90 * time.Second}, q)
}

// HAProxy in front of one server tells it the clients' addresses.
func TestBehindHAProxy(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example,
		"--http", "--client-rate", "1", "--trusted-proxies", "127.0.0.1")
	front := fronts["haproxy"](t, upstream{plain: address(p)})
	eachHasItsLimit(t, front, address(front))
}

// Behind each proxy a pull waits for as long as it may.
func TestPullBehindProxies(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	seed := kit.NewFile(t, "seed.json", `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner"}],
		"webhooks":[{"id":"whe_pull","kind":"pull","events":["*"]}],
		"apiKeys":[{"id":"key_pull","secret":"the-secret-of-the-consumer","scopes":["receive"],"createdBy":"usr_ada"}]}]}`)
	serve := func(flags ...string) *program.Process {
		return program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), append(flags, "--seed", seed, "--trusted-proxies", "127.0.0.1")...)
	}
	plain, secure := serve("--http"), serve()
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := start(t, upstream{address(plain), address(secure), secure.CAFile})
			q, _ := http.NewRequest("POST", front.URL+"/pull/whe_pull", strings.NewReader(`{"waitSeconds":60}`))
			q.Header.Set("Authorization", "Bearer key_pull.the-secret-of-the-consumer")
			began := time.Now()
			a, err := fetch(front, q)
			kit.Must(t, err)
			if waited := time.Since(began); a.Status != http.StatusOK || string(a.Body) != `{"deliveries":[]}` || waited < time.Minute {
				t.Errorf("after %v it is answered %d %s", waited, a.Status, a.Body)
			}
		})
	}
}

// dying is a server that ends without an answer to each request but for its state, as one that
// is killed.
func dying(t *testing.T, requests *atomic.Int64) (u upstream) {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			requests.Add(1)
			panic(http.ErrAbortHandler)
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	ca, leaf := newLeaf(t, "localhost")
	certificate, err := tls.X509KeyPair(leaf, leaf)
	kit.Must(t, err)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	secure.StartTLS()
	t.Cleanup(func() { plain.Close(); secure.Close() })
	return upstream{plain.Listener.Addr().String(), secure.Listener.Addr().String(), kit.NewFile(t, "node-ca.pem", string(ca))}
}

// No proxy repeats a pull that a server has received, whatever the client says of it. Those in
// front of nodes repeat a GET.
func TestPullIsNotRepeated(t *testing.T) {
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			front := start(t, dying(t, &requests))
			send := func(method, path string) int64 {
				requests.Store(0)
				q, _ := http.NewRequest(method, front.URL+path, nil)
				q.Header.Set("Idempotency-Key", "a-round")
				if a, err := fetch(front, q); err == nil && a.Status/100 != 5 {
					t.Errorf("%s %s is answered %d %s", method, path, a.Status, a.Body)
				}
				return requests.Load()
			}
			for _, path := range []string{"/pull/whe_1", "/pull/whe_1/ack", "/pull/whe_1/nack", "/pull/whe_1/extend"} {
				if n := send("POST", path); n != 1 {
					t.Errorf("a POST to %s is sent %d times", path, n)
				}
			}
			if n := send("GET", "/api/v1/members"); strings.HasSuffix(name, "nodes") != (n > 1) {
				t.Errorf("a GET is sent %d times", n)
			}
		})
	}
}
