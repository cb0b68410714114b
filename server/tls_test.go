package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"teamdata/server/localca"
	"teamdata/store"
)

// local asks for the local configuration and returns the leaf and the authority.
func (w *world) local(now time.Time, hosts ...string) (leaf *x509.Certificate, caPEM []byte) {
	w.Helper()
	config, caPEM, err := LocalTLS(w.Context(), w.store, hosts, now)
	if err != nil {
		w.Fatal(err)
	}
	pair, err := config.GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		w.Fatal(err)
	}
	return pair.Leaf, caPEM
}

// A client that trusts the authority alone can talk to the server by each name.
func TestLocalTLSIsTrusted(t *testing.T) {
	w := newWorld(t, Config{})
	config, caPEM, err := LocalTLS(t.Context(), w.store, localca.LocalHosts("box.example"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go w.server.Serve(l, config)
	defer w.server.http.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caPEM)
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "box.example"} {
		c := tls.Client(w.dial(l.Addr().String(), nil), &tls.Config{RootCAs: roots, ServerName: name})
		if err := c.Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocalTLSIsKept(t *testing.T) {
	const day = 24 * time.Hour
	w := newWorld(t, Config{})
	start := time.Now()
	leaf, ca := w.local(start, "localhost")
	for _, row := range []struct {
		name           string
		now            time.Time
		hosts          []string
		newLeaf, newCA bool
	}{
		{"the next start", start, []string{"localhost"}, false, false},
		{"a year later", start.Add(366 * day), []string{"localhost"}, false, false},
		{"a month before the leaf expires", start.Add(367 * day), []string{"localhost"}, true, false},
		{"another host", start.Add(367 * day), []string{"localhost", "box.example"}, true, false},
		{"after the authority has expired", start.Add(3653 * day), []string{"localhost"}, true, true},
	} {
		l, c := w.local(row.now, row.hosts...)
		if l.Equal(leaf) == row.newLeaf || bytes.Equal(c, ca) == row.newCA {
			t.Errorf("%s: new leaf %v, new authority %v", row.name, !l.Equal(leaf), !bytes.Equal(c, ca))
		}
		leaf, ca = l, c
	}
}

// A damaged authority is not replaced in silence: clients trust it.
func TestLocalTLSDamage(t *testing.T) {
	w := newWorld(t, Config{})
	w.update(func(tx store.Tx) error { return tx.PutCertificate(localCAName, []byte("damaged")) })
	if _, _, err := LocalTLS(t.Context(), w.store, []string{"localhost"}, time.Now()); err == nil {
		t.Error("it passed")
	}
	w = newWorld(t, Config{})
	if _, _, err := LocalTLS(t.Context(), w.store, []string{"not a host"}, time.Now()); err == nil {
		t.Error("a certificate for no host was made")
	}
}
