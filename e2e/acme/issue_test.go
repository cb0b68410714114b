package acme_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"teamdata/e2e/kit/pebble"
	"teamdata/server/certificates"
)

func TestIssue(t *testing.T) {
	for name, test := range map[string]struct {
		http      bool // http-01 instead of tls-alpn-01
		badNonces int
	}{
		"tls-alpn-01":                {},
		"http-01":                    {http: true},
		"half of the nonces are bad": {badNonces: 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, authority := newEnv(t), pebble.New(t)
			var manager *autocert.Manager
			a, _ := s.acme(authority, certificates.ACMEConfig{HTTP01: test.http, Attempted: func(m *autocert.Manager) { manager = m }})
			c := pebble.Config{TLSPort: s.Port(), BadNonces: test.badNonces}
			if test.http {
				c = pebble.Config{HTTPPort: plainPort(t, a)}
			}
			authority.Open(c)
			s.Serve(a.TLS())
			status := s.tried(a)
			leaf := s.MustGet(domainOfTests, authority.Issued)
			if status.LastError != "" || !status.NotAfter.Equal(leaf.NotAfter) || status.Name != domainOfTests || status.Authority != authority.Directory {
				t.Errorf("the status is %+v", status)
			}
			if life := leaf.NotAfter.Sub(leaf.NotBefore); !status.NextRenewal.Equal(leaf.NotAfter.Add(-life / 3)) {
				t.Errorf("it expires %v and is renewed %v", status.NotAfter, status.NextRenewal)
			}
			// autocert still cleans up with its client
			if _, err := manager.Client.GetAuthorization(t.Context(), authority.Directory+"/none"); err == nil {
				t.Error("a call for what isn't there succeeded")
			}
			if status := a.Status()[0]; status.LastError != "" {
				t.Errorf("an error after the issue is reported: %v", status.LastError)
			}
			// autocert tries tls-alpn-01 first. Why that failed is logged.
			if said := strings.Contains(s.Log.String(), "challenge tls-alpn-01: Failed to connect"); said != test.http {
				t.Errorf("the log says:\n%s", s.Log)
			}
		})
	}
}

// Each domain has a certificate of its own, all of one account.
func TestSeveralDomains(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	names := []string{"a.acme.test", "b.acme.test", domainOfTests}
	a, _ := s.acme(authority, certificates.ACMEConfig{Domains: []string{"a.acme.test", "b.acme.test", "a.acme.test"}})
	authority.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(a.TLS())
	s.tried(a)
	for i, status := range a.Status() {
		if leaf := s.MustGet(strings.ToUpper(names[i]), authority.Issued); status.Name != names[i] || !slices.Equal(leaf.DNSNames, names[i:i+1]) {
			t.Errorf("%s has a certificate for %v; the status is %+v", names[i], leaf.DNSNames, status)
		}
	}
	if len(a.Status()) != len(names) {
		t.Errorf("there are %d", len(a.Status()))
	}
}

// The first certificate is requested again, but not because of clients: they are
// refused until it is there.
func TestFirstTryFails(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	now := time.Now()
	a, _ := s.acme(authority, certificates.ACMEConfig{Now: func() time.Time { return now }})
	authority.Open(pebble.Config{TLSPort: s.Port()})
	authority.Stop()
	s.Serve(a.TLS())
	if status := s.tried(a); status.LastError == "" || !status.NotAfter.IsZero() || !status.NextRenewal.IsZero() {
		t.Errorf("the status is %+v", status)
	}
	s.Await("there is no certificate for this domain yet", 1)
	authority.Start()
	if _, err := s.Get(domainOfTests, authority.Issued); err == nil {
		t.Error("a client was served")
	}
	now = now.Add(5*time.Second - 1) // the authority saw nothing of the first
	s.tried(a)
	if n := authority.Calls.Load(); n != 0 {
		t.Errorf("%d calls came before their time", n)
	}
	now = now.Add(1)
	if status := s.tried(a); status.LastError != "" {
		t.Errorf("the status is %+v", status)
	}
	s.MustGet(domainOfTests, authority.Issued)
}

// The authority's own error is reported: here it can't connect.
func TestAuthorityRefuses(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, _ := s.acme(authority, certificates.ACMEConfig{})
	authority.Open(pebble.Config{}) // it connects to a port where nothing listens
	status := s.tried(a)
	const reason = "challenge tls-alpn-01: Failed to connect"
	if status.LastError == "" || !strings.Contains(status.LastError, reason) || !strings.Contains(s.Log.String(), reason) {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.Log)
	}
}

// Without a store the authority is not called: its answer could not be stored.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, _ := s.acme(authority, certificates.ACMEConfig{})
	authority.Open(pebble.Config{TLSPort: s.Port()})
	s.Store.Close()
	if status := s.tried(a); status.LastError == "" || authority.Calls.Load() != 0 {
		t.Errorf("%d calls; the status is %+v", authority.Calls.Load(), status)
	}
}
