package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/internal/localca"
)

// balancers are the proxies of docs/postgresql-nodes.md, set up as it says: what stands there
// for files and addresses, in the order of strings.NewReplacer, and how they run.
var balancers = map[string]func(t *testing.T, site, ca string, nodes []string) (front string){
	"nginx": func(t *testing.T, site, ca string, nodes []string) string {
		return nginx(t, inNginx(pasted(blockOf(t, "docs/postgresql-nodes.md", "nginx", "upstream"), append(nodes,
			"listen 443", "listen FRONT", "/etc/nginx/site.pem", site, "/etc/nginx/site.key", site, "/etc/nginx/teamdata-ca.pem", ca))))
	},
	"haproxy": func(t *testing.T, site, ca string, nodes []string) string {
		return haproxy(t, pasted(blockOf(t, "docs/postgresql-nodes.md", "haproxy", "defaults"), append(nodes,
			"bind :443", "bind FRONT", "/etc/haproxy/site.pem", site, "/etc/haproxy/teamdata-ca.pem", ca)))
	},
}

func pasted(block string, pairs []string) string { return strings.NewReplacer(pairs...).Replace(block) }

// Behind a proxy as the docs have it, three nodes are one server: while one is stopped
// and another killed, no request fails that may be repeated, each is executed once, and
// what else was under way is answered 503. Only if a node is killed, HAProxy may close the
// connection instead. One that was paused for longer than a proxy waits for it then does
// what it was sent. The nodes know their clients' addresses.
func TestBehindBalancers(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	for name, start := range balancers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			front := f.front(start)
			f.load(front)
			f.flows(50)
			f.nodes[0].StopWell()
			f.flows(50)
			f.serve(0)
			f.flows(50)
			f.mayBreak.Store(name == "haproxy")
			f.nodes[1].Kill()
			f.flows(50)
			f.serve(1)
			f.flows(50)
			f.pause(2, 25*time.Second)
			f.end()
			f.knowsClients(front)
		})
	}
}

// fleet are three nodes, and clients of them.
type fleet struct {
	*testing.T
	data      *program.Data
	addresses []string
	flags     []string
	nodes     [3]*program.Process
	receiver  *load.Receiver
	accepted  load.Accepted // of the requests that may be repeated
	once      load.Accepted // and of those that may not
	read      atomic.Int64
	mayBreak  atomic.Bool // those are not all answered
	stop      context.CancelFunc
	clients   sync.WaitGroup
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, data: program.InDatabase(t, postgres.New(t)), receiver: load.NewReceiver(t, load.Endpoints, 1)}
	f.flags = append(load.ServerFlags(f.receiver, f.receiver.Seed(t)), "--trusted-proxies", "127.0.0.1", "--access-log", "all")
	for i := range f.nodes {
		f.addresses = append(f.addresses, reserve(t))
		f.serve(i)
	}
	return f
}

// serve starts a node, at the same address each time.
func (f *fleet) serve(i int) {
	f.Helper()
	name := string('a' + rune(i))
	f.nodes[i] = program.Serve(f, f.data.At, append(f.flags, "--state-dir", f.TempDir(), "--node", name, "--listen", f.addresses[i])...)
}

// pause stops a node for a while, as a debugger does, when the proxy has forgotten what
// failed before: nginx sends one request at a time to a node that comes back, and finds
// none if all do at once.
func (f *fleet) pause(i int, d time.Duration) {
	<-time.After(5 * time.Second)
	f.flows(50)
	f.nodes[i].Cmd.Process.Signal(syscall.SIGSTOP)
	<-time.After(d)
	f.nodes[i].Cmd.Process.Signal(syscall.SIGCONT)
	f.flows(50)
}

// front starts a proxy with a certificate of its own, and returns it as a server.
func (f *fleet) front(start func(t *testing.T, site, ca string, nodes []string) string) *program.Process {
	f.Helper()
	site, ca := newSite(f.T)
	address := start(f.T, site, f.nodes[0].CAFile, []string{"node-1:8443", f.addresses[0], "node-2:8443", f.addresses[1], "node-3:8443", f.addresses[2]})
	return program.Connect(f, "https://"+address, ca)
}

// newSite makes a certificate for a proxy, and returns its file and that of its CA.
func newSite(t *testing.T) (site, caFile string) {
	t.Helper()
	ca, leaf := newLeaf(t, "127.0.0.1")
	return kit.NewFile(t, "site.pem", string(leaf)), kit.NewFile(t, "ca.pem", string(ca))
}

// newLeaf makes a certificate for a host, with its key, and that of its CA.
func newLeaf(t *testing.T, host string) (ca, leaf []byte) {
	t.Helper()
	authority, err := localca.NewCA(time.Now(), "the site")
	kit.Must(t, err)
	leaf, err = authority.Issue(time.Now(), []string{host})
	kit.Must(t, err)
	return authority.CertificatePEM(), leaf
}

// load starts the clients: those that post with a key and those that read must not be
// refused; those that post without one are accepted or answered 503.
func (f *fleet) load(front *program.Process) {
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.Cleanup(func() { stop(); f.clients.Wait() })
	for n := range 8 {
		client := load.Client{Number: n, Endpoints: load.Endpoints, Server: func(int) *program.Process { return front }, Again: true, Lost: load.Whatever}
		f.clients.Go(func() { f.accepted.Post(ctx, f.T, client) })
	}
	for range 2 {
		f.clients.Go(func() { f.postOnce(ctx, front) })
		f.clients.Go(func() {
			for ctx.Err() == nil {
				if a, err := front.Get("/members", program.ReadKey); err != nil || a.Status != http.StatusOK {
					f.Errorf("a read is answered %d %s %v", a.Status, a.Body, err)
					return
				}
				f.read.Add(1)
			}
		})
	}
}

func (f *fleet) postOnce(ctx context.Context, front *program.Process) {
	for ctx.Err() == nil {
		began := time.Now()
		q, _ := http.NewRequest("POST", front.URL+"/api/v1/webhooks/whe_0/test", nil)
		q.Header.Set("Authorization", "Bearer "+program.WriteKey)
		a, err := front.Client.Do(q)
		if err != nil && f.mayBreak.Load() {
			f.once.Add(f.T, "", time.Since(began))
			continue
		}
		if err != nil {
			f.Errorf("a request without a key is not answered: %v", err)
			return
		}
		var body struct{ ID string }
		err = json.NewDecoder(a.Body).Decode(&body)
		a.Body.Close()
		unavailable := a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != ""
		if err != nil || !unavailable && (a.StatusCode != http.StatusOK || body.ID == "") {
			f.Errorf("a request without a key is answered %d %v %v", a.StatusCode, a.Header, err)
			return
		}
		f.once.Add(f.T, body.ID, time.Since(began))
		<-time.After(5 * time.Millisecond)
	}
}

// flows waits until so many more were accepted.
func (f *fleet) flows(n int) {
	f.Helper()
	f.accepted.Flows(f.nodes[2], n)
}

// end stops the clients, and holds what is there to what they were told.
func (f *fleet) end() {
	f.Helper()
	f.stop()
	f.clients.Wait()
	f.nodes[2].Await("the last delivery", func() bool { return f.receiver.Missing(&f.accepted) == 0 && f.receiver.Missing(&f.once) == 0 })
	f.Logf("%d posts that may be repeated and %d that may not were accepted, %d of these answered 503, %d reads; the longest answer took %v and %v",
		f.accepted.Count(), f.once.Count(), f.once.Refusals(), f.read.Load(), f.accepted.Longest.Round(time.Millisecond), f.once.Longest.Round(time.Millisecond))
	if n := f.accepted.Refusals(); n > 0 {
		f.Errorf("%d requests that may be repeated were answered 503", n)
	}
	told := f.accepted.Count() + f.once.Count()
	if there := f.data.Deliveries(); there < told || there > told+f.once.Refusals() {
		f.Errorf("%d were accepted and %d answered 503, and %d are there", told, f.once.Refusals(), there)
	}
	if f.read.Load() == 0 {
		f.Error("nothing was read")
	}
}

// knowsClients looks for the address of a client in the nodes' logs, whatever it forges.
func (f *fleet) knowsClients(front *program.Process) {
	f.Helper()
	client := from(front, "127.0.0.2", address(front))
	for _, headers := range [][]string{nil, {"X-Forwarded-For", "203.0.113.9"}, {"Forwarded", "for=203.0.113.9"}} {
		if a := client.Must("GET", "/members", program.ReadKey, headers...); a.Status != http.StatusOK {
			f.Errorf("answered %d %s", a.Status, a.Body)
		}
	}
	f.nodes[2].Await("the client in the logs", func() bool { // a line comes after its answer
		seen := 0
		for _, n := range f.nodes {
			seen += strings.Count(n.Out.String(), `"client":"127.0.0.2"`)
		}
		return seen == 3
	})
}
