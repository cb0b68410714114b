package acme_test

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/program"
)

// balancer passes connections to one node after the other, and returns its port.
func balancer(t *testing.T, nodes *atomic.Pointer[[]*program.Process]) (port int) {
	t.Helper()
	l := kit.Loopback(t)
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
	ca := kit.NewFile(t, "acme.ca.pem", string(authority.CAPEM))
	nodes, _ := program.Together(t, "--domain", program.Domain, "--acme-accept-terms", "--acme-directory", authority.Directory, "--acme-ca", ca)
	var behind atomic.Pointer[[]*program.Process]
	behind.Store(&nodes)
	authority.Open(pebble.Config{TLSPort: balancer(t, &behind)})
	leaf := nodes[0].Shown(authority.Issued)
	for _, p := range nodes[1:] {
		if !p.Shown(authority.Issued).Equal(leaf) {
			t.Error("the nodes show different certificates")
		}
	}
	for _, what := range []string{pebble.Accounts, pebble.Orders, pebble.Issues} {
		if n := authority.Made(what); n != 1 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
