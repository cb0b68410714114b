package acme_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/acme/autocert"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/site"
	"teamdata/server/certificates"
	"teamdata/store/pgstore"
)

// cluster are the sources of nodes on one database, behind one address.
type cluster struct {
	testing.TB
	all  []*certificates.ACME
	stop []func() // of each node
	log  *kit.Output
	asks sync.Map // the nodes that have made an order
	turn atomic.Int64
}

// newCluster starts nodes on an empty database, all at once.
func newCluster(t testing.TB, authority *pebble.Authority, c certificates.ACMEConfig) *cluster {
	t.Helper()
	target, err := pgstore.ParseTarget(postgres.New(t))
	kit.Must(t, err)
	n := &cluster{TB: t, log: kit.NewOutput()}
	type started struct {
		a    *certificates.ACME
		stop func()
		err  error
	}
	start := make(chan started)
	const nodes = 3
	for range nodes {
		go func() {
			s, err := pgstore.Open(t.Context(), target, pgstore.Options{Node: pgstore.RandomName()})
			if err != nil {
				start <- started{err: err}
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			c := c
			c.Domains, c.Directories, c.RootCAs, c.Log = []string{domainOfTests}, []string{authority.Directory}, authority.Roots(), zerolog.New(n.log)
			var a *certificates.ACME
			c.Attempted = func(*autocert.Manager) { n.asks.Store(a, true) }
			a, err = certificates.NewACME(ctx, s, c)
			start <- started{a, func() { cancel(); s.Close() }, err}
		}()
	}
	for range nodes {
		s := <-start
		if s.err != nil {
			t.Fatal(s.err)
		}
		t.Cleanup(s.stop)
		n.all, n.stop = append(n.all, s.a), append(n.stop, s.stop)
	}
	return n
}

// other is a node that has made no order, as the authority meets it.
func (n *cluster) other() *certificates.ACME {
	for range n.all {
		a := n.all[n.turn.Add(1)%int64(len(n.all))]
		if _, asks := n.asks.Load(a); !asks {
			return a
		}
	}
	return n.all[0]
}

// serve answers at a port for TLS and at one for plain HTTP.
func (n *cluster) serve() (tlsPort, plainPort int) {
	l := kit.ListenOn(n, kit.Reserved(n))
	h := httptest.NewUnstartedServer(http.NotFoundHandler())
	h.Listener.Close()
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.Listener = tls.NewListener(l, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return n.other().TLS(), nil }})
	h.Start()
	n.Cleanup(h.Close)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.other().Challenges().ServeHTTP(w, r) }))
	n.Cleanup(plain.Close)
	return l.Addr().(*net.TCPAddr).Port, plain.Listener.Addr().(*net.TCPAddr).Port
}

// shows is the certificate that a node shows once it has one.
func (n *cluster) shows(a *certificates.ACME, roots *x509.CertPool) *x509.Certificate {
	n.Helper()
	var shown *x509.Certificate
	var err error
	isShown := kit.Until(site.Patience, func() bool {
		near, far := net.Pipe()
		go func() {
			tls.Server(far, a.TLS()).Handshake()
			far.Close()
		}()
		defer near.Close()
		client := tls.Client(near, &tls.Config{RootCAs: roots, ServerName: domainOfTests})
		if err = client.Handshake(); err == nil {
			shown = client.ConnectionState().PeerCertificates[0]
		}
		return err == nil
	})
	if !isShown {
		n.Fatalf("%v; the log says:\n%s", err, n.log)
	}
	return shown
}

// Three nodes that start together get one account, one order and one certificate, which
// each of them serves, although the authority meets others than the one that asked.
func TestIssueOverNodes(t *testing.T) {
	for name, http01 := range map[string]bool{"tls-alpn-01": false, "http-01": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			authority := pebble.New(t)
			now := new(atomic.Int64)
			n := newCluster(t, authority, certificates.ACMEConfig{HTTP01: http01, Now: func() time.Time { return time.Now().Add(time.Duration(now.Load())) }})
			c, orders := pebble.Config{}, 1
			if tlsPort, plainPort := n.serve(); http01 {
				c.HTTPPort, orders = plainPort, 2 // the first is for tls-alpn-01
			} else {
				c.TLSPort = tlsPort
			}
			authority.Open(c)
			for _, a := range n.all {
				a.Refresh(t.Context())
			}
			leaf := n.shows(n.all[0], authority.Issued)
			for _, a := range n.all[1:] {
				if !n.shows(a, authority.Issued).Equal(leaf) {
					t.Error("the nodes show different certificates")
				}
			}
			for what, want := range map[string]int{pebble.Accounts: 1, pebble.Orders: orders, pebble.Issues: 1} {
				if got := authority.Made(what); got != want {
					t.Errorf("%s: %d, want %d", what, got, want)
				}
			}

			now.Store(int64(afterRenewal)) // and once it is due
			isRenewed := kit.Until(site.Patience, func() bool {
				renewed := 0
				for _, a := range n.all {
					a.Refresh(t.Context())
					if !n.shows(a, authority.Issued).Equal(leaf) {
						renewed++
					}
				}
				return renewed == len(n.all)
			})
			if !isRenewed {
				n.Fatalf("not all nodes show a new certificate; the log says:\n%s", n.log)
			}
			if accounts, issues := authority.Made(pebble.Accounts), authority.Made(pebble.Issues); accounts != 1 || issues != 2 {
				t.Errorf("after the renewal: %d accounts and %d certificates", accounts, issues)
			}
		})
	}
}

// While one node waits to try again, the others don't try instead. Once it has stopped,
// one of them does.
func TestFailuresOverNodes(t *testing.T) {
	t.Parallel()
	authority := pebble.New(t)
	n := newCluster(t, authority, certificates.ACMEConfig{})
	authority.Open(pebble.Config{}) // which reaches none
	tried := func() (by []int) {
		for i, a := range n.all {
			if a.Status()[0].LastError != "" {
				by = append(by, i)
			}
		}
		return by
	}
	refresh := func(want int) []int {
		t.Helper()
		for late := time.After(site.Patience); ; {
			for _, a := range n.all {
				a.Refresh(t.Context())
			}
			if by := tried(); len(by) >= want {
				return by
			}
			select {
			case <-late:
				t.Fatalf("%d nodes did not try; the log says:\n%s", want, n.log)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	first := refresh(1)[0]
	n.all[first].Wait()
	orders := authority.Made(pebble.Orders)
	for looked := time.After(3 * time.Second); ; { // in which the others look again
		for _, a := range n.all {
			a.Refresh(t.Context())
		}
		select {
		case <-looked:
		case <-time.After(20 * time.Millisecond):
			continue
		}
		break
	}
	if by := tried(); len(by) != 1 || authority.Made(pebble.Orders) != orders {
		t.Errorf("%v tried, with %d orders instead of %d", by, authority.Made(pebble.Orders), orders)
	}
	n.stop[first]()
	n.all = append(n.all[:first:first], n.all[first+1:]...)
	refresh(1)
}
