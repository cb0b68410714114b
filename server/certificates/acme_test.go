package certificates

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit/pebble"
	"teamdata/store"
)

const domainOfTests = "data.acme.test"

const issued = "the authority gave a new certificate"

var quiet = log.New(io.Discard, "", 0)

// acme makes a source that lives until the test ends or calls stop. The authority is the
// first one that it asks.
func (s *env) acme(authority *pebble.Authority, c ACMEConfig) (a *ACME, stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.Cleanup(cancel)
	c.Domains = append(c.Domains, domainOfTests)
	c.Directories = append([]string{authority.Directory}, c.Directories...)
	c.RootCAs, c.Email, c.Log = authority.Roots(), "ops@acme.test", s.logger()
	a, err := NewACME(ctx, s.store, c)
	if err != nil {
		s.Fatal(err)
	}
	return a, cancel
}

// tried refreshes, and returns when no attempt runs any more. The status is that of
// the first domain.
func (s *env) tried(a *ACME) store.CertificateStatus {
	s.Helper()
	a.Refresh(s.Context())
	for _, d := range a.domains {
		if _, tried := d.state(); tried != nil {
			select {
			case <-tried:
			case <-time.After(patience):
				s.Fatalf("the try did not end; the log says:\n%s", s.log)
			}
		}
	}
	return a.Status()[0]
}

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
			a, _ := s.acme(authority, ACMEConfig{HTTP01: test.http})
			c := pebble.Config{TLSPort: s.port(), BadNonces: test.badNonces}
			if test.http {
				c = pebble.Config{HTTPPort: plainPort(t, a)}
			}
			authority.Open(c)
			s.serve(a)
			status := s.tried(a)
			leaf := s.mustGet(domainOfTests, authority.Issued)
			if status.LastError != "" || !status.NotAfter.Equal(leaf.NotAfter) || status.Name != domainOfTests || status.Authority != authority.Directory {
				t.Errorf("the status is %+v", status)
			}
			if life := leaf.NotAfter.Sub(leaf.NotBefore); !status.NextRenewal.Equal(leaf.NotAfter.Add(-life / 3)) {
				t.Errorf("it expires %v and is renewed %v", status.NotAfter, status.NextRenewal)
			}
			client := a.domains[0].manager.Client // autocert still cleans up with it
			if _, err := client.GetAuthorization(t.Context(), authority.Directory+"/none"); err == nil {
				t.Error("a call for what isn't there succeeded")
			}
			if status := a.Status()[0]; status.LastError != "" {
				t.Errorf("an error after the issue is reported: %v", status.LastError)
			}
			// autocert tries tls-alpn-01 first. Why that failed is logged.
			if said := strings.Contains(s.log.String(), "challenge tls-alpn-01: Failed to connect"); said != test.http {
				t.Errorf("the log says:\n%s", s.log)
			}
		})
	}
}

// Each domain has a certificate of its own, all of one account.
func TestSeveralDomains(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	names := []string{"a.acme.test", "b.acme.test", domainOfTests}
	a, _ := s.acme(authority, ACMEConfig{Domains: []string{"a.acme.test", "b.acme.test", "a.acme.test"}})
	authority.Open(pebble.Config{TLSPort: s.port()})
	s.serve(a)
	s.tried(a)
	for i, status := range a.Status() {
		if leaf := s.mustGet(strings.ToUpper(names[i]), authority.Issued); status.Name != names[i] || !slices.Equal(leaf.DNSNames, names[i:i+1]) {
			t.Errorf("%s has a certificate for %v; the status is %+v", names[i], leaf.DNSNames, status)
		}
	}
	if len(a.Status()) != len(names) {
		t.Errorf("there are %d", len(a.Status()))
	}
}

// plainPort serves the challenges over plain HTTP.
func plainPort(t testing.TB, a *ACME) int {
	h := httptest.NewServer(a.Challenges())
	t.Cleanup(h.Close)
	return h.Listener.Addr().(*net.TCPAddr).Port
}

// The first certificate is requested again, but not because of clients: they are
// refused until it is there.
func TestFirstTryFails(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	now := time.Now()
	a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
	authority.Open(pebble.Config{TLSPort: s.port()})
	authority.Stop()
	s.serve(a)
	if status := s.tried(a); status.LastError == "" || !status.NotAfter.IsZero() || !status.NextRenewal.IsZero() {
		t.Errorf("the status is %+v", status)
	}
	s.await("there is no certificate for this domain yet", 1)
	authority.Start()
	if _, err := s.get(domainOfTests, authority.Issued); err == nil {
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
	s.mustGet(domainOfTests, authority.Issued)
}

// The authority's own error is reported: here it can't connect.
func TestAuthorityRefuses(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, _ := s.acme(authority, ACMEConfig{})
	authority.Open(pebble.Config{}) // it connects to a port where nothing listens
	status := s.tried(a)
	const reason = "challenge tls-alpn-01: Failed to connect"
	if status.LastError == "" || !strings.Contains(status.LastError, reason) || !strings.Contains(s.log.String(), reason) {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.log)
	}
}

// Without a store the authority is not called: its answer could not be stored.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, _ := s.acme(authority, ACMEConfig{})
	authority.Open(pebble.Config{TLSPort: s.port()})
	s.store.Close()
	if status := s.tried(a); status.LastError == "" || authority.Calls.Load() != 0 {
		t.Errorf("%d calls; the status is %+v", authority.Calls.Load(), status)
	}
}

// A call is repeated at once with another nonce, later when the authority is down,
// and not after too many calls or when the authority asks for a long pause. A moment
// to wait for counts from the answer's own.
func TestBackoff(t *testing.T) {
	const date = "Sun, 22 Nov 2026 12:00:00 GMT"
	for _, test := range []struct {
		n, status  int
		retryAfter string
		want       time.Duration
	}{
		{1, 400, "", time.Millisecond}, {30, 400, "", time.Millisecond}, {31, 400, "", 0},
		{1, 503, "", time.Second}, {2, 500, "", 2 * time.Second}, {20, 503, "", 8 * time.Second}, {31, 503, "", 0}, {1, 429, "", 0},
		{1, 503, "5", 5 * time.Second}, {5, 503, "5", 8 * time.Second}, {1, 503, "9", 0}, {1, 429, "1", 0}, {1, 503, "-1", time.Second},
		{1, 503, "99999999999", 0}, {1, 503, "soon", time.Second}, {1, 503, "Sun, 22 Nov 2026 12:00:06 GMT", 6 * time.Second},
		{1, 503, date, time.Second}, {1, 503, "Sun, 22 Nov 2026 11:00:00 GMT", time.Second}, {1, 503, "Sun, 22 Nov 2027 11:00:00 GMT", 0},
	} {
		header := http.Header{"Date": {date}, "Retry-After": {test.retryAfter}}
		if got := backoff(test.n, nil, &http.Response{StatusCode: test.status, Header: header}); got != test.want {
			t.Errorf("failure %d, status %d, Retry-After %q: %v", test.n, test.status, test.retryAfter, got)
		}
	}
}

func TestProblemIn(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{200, `{"status":"valid","type":"http-01"}`, ""},
		{200, "-----BEGIN CERTIFICATE-----", ""},
		{200, "", ""},
		{200, `{"challenges":[{"type":"http-01"},{"type":"tls-alpn-01","error":{"type":"urn:x:connection","detail":"no way"}}]}`, "challenge tls-alpn-01: no way (urn:x:connection)"},
		{200, `{"status":"invalid","error":{"type":"urn:x:caa","detail":"not us"}}`, "order: not us (urn:x:caa)"},
		{400, `{"type":"urn:ietf:params:acme:error:badNonce","detail":"stale","status":400}`, ""},
		{429, `{"type":"urn:x:rateLimited","detail":"too many","status":429}`, "answered 429: too many (urn:x:rateLimited)"},
		{502, "<html>", "answered 502 Bad Gateway"},
		{404, `{}`, "answered 404 Not Found"},
		{500, `{"type":"x","detail":"` + strings.Repeat("a", 600) + `"}`, "answered 500: " + strings.Repeat("a", 500) + " (x)"},
	} {
		got := ""
		if err := problemIn(test.status, []byte(test.body)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d %s: %q", test.status, test.body, got)
		}
	}
}

// A certificate is renewed when a third of its life is left, but not more than 30
// days before its end.
func TestRenewBefore(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{
		6 * day: 2 * day, 90 * day: 30 * day, 93 * day: 30 * day, 397 * day: 30 * day,
	} {
		if got := renewBefore(life); got != want {
			t.Errorf("of %s the last %s, not %s", life, got, want)
		}
	}
}

// Let's Encrypt refuses a domain for an hour after five failures within one.
func TestFirstRetries(t *testing.T) {
	var at time.Duration
	failures := []time.Duration{0}
	for _, pause := range append(firstRetries, firstRetries[len(firstRetries)-1]) {
		at += pause
		failures = append(failures, at)
	}
	for i := 5; i < len(failures); i++ {
		if within := failures[i] - failures[i-5]; within < time.Hour {
			t.Errorf("six attempts within %s", within)
		}
	}
	if last := firstRetries[len(firstRetries)-1]; last != time.Hour {
		t.Errorf("in the end there is an attempt each %s", last)
	}
}
