package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/site"
	"teamdata/internal/localca"
	"teamdata/store"
)

// env is a site for whose certificates the sources of this package are.
type env struct{ *site.Site }

func newEnv(t testing.TB) *env { return &env{site.New(t)} }

// local makes a source for this machine.
func (s *env) local(c LocalConfig) *Local {
	s.Helper()
	if c.Hosts == nil {
		c.Hosts = localca.LocalHosts("box.example")
	}
	c.Log = s.Logger()
	l, err := NewLocal(s.Context(), s.Store, c)
	kit.Must(s.TB, err)
	return l
}

func leafOf(t testing.TB, s Source) *x509.Certificate {
	t.Helper()
	pair, err := s.TLS().GetCertificate(&tls.ClientHelloInfo{})
	kit.Must(t, err)
	return pair.Leaf
}

// A client that trusts the authority alone can talk to the server by each name.
func TestLocalIsTrusted(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	roots := x509.NewCertPool()
	s.Serve(s.local(LocalConfig{Trusted: func(pem []byte) error { roots.AppendCertsFromPEM(pem); return nil }}).TLS())
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]", "box.example"} {
		s.MustGet(name, roots)
	}
}

const day = 24 * time.Hour

func TestLocalIsKept(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	start := time.Now()
	var leaf *x509.Certificate
	var ca []byte
	for _, row := range []struct {
		name           string
		now            time.Time
		hosts          []string
		newLeaf, newCA bool
	}{
		{"the first start", start, []string{"localhost"}, true, true},
		{"the next start", start, []string{"localhost"}, false, false},
		{"a year later", start.Add(366 * day), []string{"localhost"}, false, false},
		{"a month before the leaf expires", start.Add(367 * day), []string{"localhost"}, true, false},
		{"another host", start.Add(367 * day), []string{"localhost", "box.example"}, true, false},
		{"after the authority has expired", start.Add(3653 * day), []string{"localhost"}, true, true},
	} {
		var trusted []byte
		l := leafOf(t, s.local(LocalConfig{
			Hosts: row.hosts, Now: func() time.Time { return row.now },
			Trusted: func(pem []byte) error { trusted = pem; return nil },
		}))
		if leaf.Equal(l) == row.newLeaf || bytes.Equal(trusted, ca) == row.newCA {
			t.Errorf("%s: new leaf %v, new authority %v", row.name, !leaf.Equal(l), !bytes.Equal(trusted, ca))
		}
		leaf, ca = l, trusted
	}
}

// An authority that was made while the clock was ahead is of no use once it is right: a
// server that starts then, and one that runs on, have another one, say so once, and write
// nothing more. The same if the first was made at the right time and the clock is behind.
func TestLocalClockWasAhead(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	now := time.Now().AddDate(1, 0, 0)
	var trusted []byte
	start := func() *Local {
		return s.local(LocalConfig{
			Hosts: []string{"localhost"}, Now: func() time.Time { return now },
			Trusted: func(pem []byte) error { trusted = pem; return nil },
		})
	}
	running := start()
	old := bytes.Clone(trusted)
	now = time.Now()
	var leaf *x509.Certificate
	for name, l := range map[string]*Local{"runs on": running, "starts": start()} {
		l.Refresh(t.Context())
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(trusted)
		if _, err := leafOf(t, l).Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: "localhost"}); err != nil {
			t.Errorf("one that %s: %v", name, err)
		}
		if !bytes.HasPrefix(trusted, old) || bytes.Count(trusted, []byte("BEGIN")) != 2 {
			t.Errorf("one that %s gives clients\n%s", name, trusted)
		}
		leaf = leafOf(t, l)
		l.Refresh(t.Context())
		if !leafOf(t, l).Equal(leaf) {
			t.Errorf("one that %s makes a certificate each time", name)
		}
	}
	if n := strings.Count(s.Log.String(), "the local CA is not valid now"); n != 2 {
		t.Errorf("the log says it %d times, not once each:\n%s", n, s.Log)
	}
}

// Years pass while it runs. A client that reads the authorities once a year, and
// connects every week, is never turned away.
func TestLocalRotation(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	start := time.Now().Truncate(time.Second)
	now := start
	var trusted []byte
	l := s.local(LocalConfig{
		Hosts: []string{"localhost"}, Now: func() time.Time { return now },
		Trusted: func(pem []byte) error { trusted = pem; return nil },
	})
	first := bytes.Clone(trusted)
	var roots *x509.CertPool
	leaves, most := map[string]bool{}, 0
	for n := 0; now.Before(start.AddDate(12, 0, 0)); n++ {
		if n%52 == 0 {
			roots = x509.NewCertPool()
			roots.AppendCertsFromPEM(trusted)
		}
		l.Refresh(t.Context())
		leaf := leafOf(t, l)
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: "localhost"}); err != nil {
			t.Fatalf("week %d: %v", n, err)
		}
		if c := l.served.Load(); !c.cas.Issuer(now).Good(c.leaf, now, []string{"localhost"}) {
			t.Fatalf("week %d: the certificate is not of the authority that issues, or ends soon", n)
		}
		leaves[leaf.SerialNumber.String()] = true
		most = max(most, bytes.Count(trusted, []byte("BEGIN")))
		now = now.Add(7 * day)
	}
	if len(leaves) < 12 || most != 2 || bytes.Contains(trusted, first) || bytes.Contains(trusted, []byte("KEY-----")) {
		t.Errorf("%d leaves, up to %d authorities, the last are:\n%s", len(leaves), most, trusted)
	}
	if status := l.Status()[0]; status.LastError != "" || !status.NextRenewal.Equal(status.NotAfter.Add(-30*day)) {
		t.Errorf("the status is %+v", status)
	}
	if again := leafOf(t, s.local(LocalConfig{Hosts: []string{"localhost"}, Now: func() time.Time { return now }})); !again.Equal(leafOf(t, l)) {
		t.Error("after a restart it is another certificate")
	}
}

// A damaged authority is not replaced in silence: clients trust it.
func TestLocalDamage(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	err := s.Store.Update(t.Context(), store.All, func(tx store.Tx) error { return tx.PutCertificate(localCAName, []byte("damaged")) })
	kit.Must(t, err)
	if _, err := NewLocal(t.Context(), s.Store, LocalConfig{Hosts: []string{"localhost"}}); err == nil {
		t.Error("it passed")
	}
	if _, err := NewLocal(t.Context(), newEnv(t).Store, LocalConfig{Hosts: []string{"not a host"}}); err == nil {
		t.Error("a certificate for no host was made")
	}
}

// A failed renewal is logged once, and repeated later. The old certificate is served
// meanwhile.
func TestLocalLastError(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	now := time.Now()
	var full error
	l := s.local(LocalConfig{Hosts: []string{"localhost"}, Now: func() time.Time { return now }, Trusted: func([]byte) error { return full }})
	now, full = now.AddDate(8, 0, 1), errors.New("the disk is full")
	for range 3 {
		l.Refresh(t.Context())
	}
	status := l.Status()[0]
	if status.LastError != full.Error() || !status.LastErrorAt.Equal(now) || strings.Count(s.Log.String(), "the disk is full") != 1 {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.Log)
	}
	full = nil
	if l.Refresh(t.Context()); l.Status()[0].LastError != "" {
		t.Error("it is not over")
	}
	leaf := leafOf(t, l)
	s.Store.Close()
	now = now.AddDate(1, 0, 0)
	l.Refresh(t.Context())
	if l.Status()[0].LastError == "" || !leafOf(t, l).Equal(leaf) {
		t.Error("without a store something else is served")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	Run(ended, l, nil) // and returns
}
