package app_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// together starts three servers at once on an empty database.
func together(t *testing.T, flags ...string) (nodes []*program.Process, places []*place) {
	t.Helper()
	database := postgres.New(t)
	var ready []string
	for range 3 {
		n, file := inDatabase(t, database), filepath.Join(t.TempDir(), "ready.json")
		args := slices.Concat([]string{"serve", "--data", n.data, "--listen", "127.0.0.1:0", "--ready-file", file, "--seed", program.Example}, n.beside, flags)
		nodes, places, ready = append(nodes, program.Begin(t, exec.Command(program.Binary(t), args...))), append(places, n), append(ready, file)
	}
	for i, p := range nodes {
		p.AwaitReady(ready[i])
	}
	return nodes, places
}

// Three servers that are started together on an empty database have one local CA, and
// import the seed once. A client that trusts the CA by the file of one reaches them all.
func TestTogether(t *testing.T) {
	t.Parallel()
	nodes, places := together(t)
	ca := kit.ReadText(t, nodes[0].CAFile)
	if n := strings.Count(ca, "BEGIN CERTIFICATE"); n != 1 {
		t.Errorf("there are %d CAs", n)
	}
	for i, p := range nodes {
		if kit.ReadText(t, p.CAFile) != ca {
			t.Errorf("node %d has another CA", i)
		}
		if a := connect(t, p.URL, nodes[0].CAFile).Must("GET", "/members", program.ReadKey); a.Status != http.StatusOK {
			t.Errorf("node %d answers %d %s", i, a.Status, a.Body)
		}
	}
	if got := postgres.Exec(t, places[0].data, "SELECT count(*) FROM certificates WHERE name = 'local-ca'"); got[0][0] != "1" {
		t.Errorf("the database holds %s CAs", got[0][0])
	}
	filled := 0
	for _, p := range nodes {
		filled += strings.Count(p.Out.String(), "filled the data file")
	}
	if filled != 1 {
		t.Errorf("the seed was imported %d times", filled)
	}
	for i, p := range nodes {
		if err := p.Stop(); err != nil {
			t.Errorf("node %d ended with %v\n%s", i, err, p.Out)
		}
	}
	again := places[1].serve()
	if connect(t, again.URL, nodes[0].CAFile).Must("GET", "/members", program.ReadKey); kit.ReadText(t, again.CAFile) != ca {
		t.Error("after a restart there is another CA")
	}
}

// balancer passes connections to one node after the other, and returns its port.
func balancer(t *testing.T, nodes *atomic.Pointer[[]*program.Process]) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for turn := 0; ; turn++ {
			in, err := l.Accept()
			if err != nil {
				return
			}
			all := *nodes.Load()
			at, err := url.Parse(all[turn%len(all)].URL)
			if err != nil {
				t.Error(err)
				return
			}
			out, err := net.Dial("tcp", at.Host)
			if err != nil {
				in.Close()
				continue
			}
			go func() { defer in.Close(); io.Copy(in, out) }()
			go func() { defer out.Close(); io.Copy(out, in) }()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// Three servers that are started together with a domain get one certificate for it, by
// one account and one order, although the authority is answered by any of them. They all
// show it, also when the one that got it is gone.
func TestACMETogether(t *testing.T) {
	t.Parallel()
	authority := pebble.New(t)
	ca := filepath.Join(t.TempDir(), "acme.ca.pem")
	kit.WriteFile(t, ca, string(authority.CAPEM))
	nodes, _ := together(t, "--domain", program.Domain, "--acme-accept-terms", "--acme-directory", authority.Directory, "--acme-ca", ca)
	var behind atomic.Pointer[[]*program.Process]
	behind.Store(&nodes)
	authority.Open(pebble.Config{TLSPort: balancer(t, &behind)})
	leaf := shown(nodes[0], authority.Issued)
	for _, p := range nodes[1:] {
		if !shown(p, authority.Issued).Equal(leaf) {
			t.Error("the nodes show different certificates")
		}
	}
	for _, what := range []string{pebble.Accounts, pebble.Orders, pebble.Issues} {
		if n := authority.Made(what); n != 1 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
