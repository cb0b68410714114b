package certificates

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/server/certificates/acmetest"
	"teamdata/server/localca"
)

const domainOfTests = "data.acme.test"

const issued = "the authority gave a new certificate"

var quiet = log.New(io.Discard, "", 0)

// acme makes a source that lives until the test ends, or it is told to stop.
func (s *site) acme(authority *acmetest.Authority, c ACMEConfig) (a *ACME, stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.Cleanup(cancel)
	c.Domains = append(c.Domains, domainOfTests)
	c.Directory, c.RootCAs, c.Email, c.Log = authority.Directory, authority.Roots(), "ops@acme.test", s.logger()
	a, err := NewACME(ctx, s.store, c)
	if err != nil {
		s.Fatal(err)
	}
	return a, cancel
}

// tried refreshes, and returns when no try runs any more. The status is that of
// the first domain.
func (s *site) tried(a *ACME) Status {
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
			s, authority := newSite(t), acmetest.New(t)
			a, _ := s.acme(authority, ACMEConfig{HTTP01: test.http})
			c := acmetest.Config{TLSPort: s.port(), BadNonces: test.badNonces}
			if test.http {
				c = acmetest.Config{HTTPPort: plainPort(t, a)}
			}
			authority.Open(c)
			s.serve(a)
			status := s.tried(a)
			leaf := s.mustGet(domainOfTests, authority.Issued)
			if status.LastError != nil || !status.NotAfter.Equal(leaf.NotAfter) || status.Name != domainOfTests {
				t.Errorf("the status is %+v", status)
			}
			if life := leaf.NotAfter.Sub(leaf.NotBefore); !status.NextRenewal.Equal(leaf.NotAfter.Add(-life / 3)) {
				t.Errorf("it expires %v and is renewed %v", status.NotAfter, status.NextRenewal)
			}
			// autocert tries tls-alpn-01 first. Why that did not work is told.
			if said := strings.Contains(s.log.String(), "challenge tls-alpn-01: Failed to connect"); said != test.http {
				t.Errorf("the log says:\n%s", s.log)
			}
		})
	}
}

// Each domain has a certificate of its own, all of one account.
func TestSeveralDomains(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	names := []string{"a.acme.test", "b.acme.test", domainOfTests}
	a, _ := s.acme(authority, ACMEConfig{Domains: []string{"a.acme.test", "b.acme.test", "a.acme.test"}})
	authority.Open(acmetest.Config{TLSPort: s.port()})
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

// A certificate is renewed again and again while clients come all the time.
func TestRenewalUnderLoad(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	a, _ := s.acme(authority, ACMEConfig{renewBefore: 9 * time.Second})
	authority.Open(acmetest.Config{TLSPort: s.port(), Life: 10 * time.Second})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	stop := s.load(domainOfTests, authority.Issued)
	s.await(issued, 3)
	if s.mustGet(domainOfTests, authority.Issued).SerialNumber.Cmp(first.SerialNumber) == 0 {
		t.Error("the first certificate is still served")
	}
	if n := stop(); n < 10 {
		t.Errorf("only %d requests: no load", n)
	}
	if status := a.Status()[0]; status.LastError != nil {
		t.Errorf("the status is %+v", status)
	}
}

// While the authority can't be reached, the certificate that is there is served,
// and what is wrong is told. It is renewed by the next start at the latest.
func TestAuthorityIsDown(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	a, stop := s.acme(authority, ACMEConfig{renewBefore: 14 * time.Second})
	authority.Open(acmetest.Config{TLSPort: s.port(), Life: 15 * time.Second})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	authority.Stop()
	loaded := s.load(domainOfTests, authority.Issued)
	s.await("connection refused", 1)
	if status := a.Status()[0]; status.LastError == nil || !strings.Contains(status.LastError.Error(), "connection refused") ||
		status.LastErrorAt.IsZero() || !status.NotAfter.Equal(first.NotAfter) {
		t.Errorf("the status is %+v", status)
	}
	if !s.mustGet(domainOfTests, authority.Issued).Equal(first) {
		t.Error("another certificate is served")
	}
	loaded()

	stop()
	authority.Start()
	a, _ = s.acme(authority, ACMEConfig{renewBefore: 14 * time.Second})
	s.l.Close()
	s.listenAgain()
	s.serve(a)
	if status := s.tried(a); !status.NotAfter.Equal(first.NotAfter) {
		t.Error("after a restart the certificate is not the one that was kept")
	}
	s.await(issued, 2)
	if status := a.Status()[0]; status.LastError != nil {
		t.Errorf("the status is %+v", status)
	}
}

// listenAgain listens where it did before, as a restart does.
func (s *site) listenAgain() {
	s.Helper()
	l, err := net.Listen("tcp", s.l.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	s.l = l
}

// A restart asks nobody.
func TestRestart(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	a, stop := s.acme(authority, ACMEConfig{})
	authority.Open(acmetest.Config{TLSPort: s.port()})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	stop()
	authority.Stop()
	account := a.account

	s.l.Close()
	s.listenAgain()
	a, _ = s.acme(authority, ACMEConfig{})
	before := s.log.String()
	s.serve(a)
	s.keep(a) // the client waits for the look into the store
	if again := s.mustGet(domainOfTests, authority.Issued); !again.Equal(first) {
		t.Error("it is another certificate")
	}
	if status := a.Status()[0]; status.LastError != nil || s.log.String() != before {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.log)
	}
	if !account.(*ecdsa.PrivateKey).Equal(a.account) {
		t.Error("it is another account")
	}
}

// What came from one authority, such as one for trying things out, is not served
// when there is another.
func TestOtherAuthority(t *testing.T) {
	t.Parallel()
	s, staging, production := newSite(t), acmetest.New(t), acmetest.New(t)
	first, stop := s.acme(staging, ACMEConfig{})
	staging.Open(acmetest.Config{TLSPort: s.port()})
	s.serve(first)
	s.tried(first)
	s.mustGet(domainOfTests, staging.Issued)
	stop()

	s.l.Close()
	s.listenAgain()
	second, _ := s.acme(production, ACMEConfig{})
	production.Open(acmetest.Config{TLSPort: s.port()})
	s.serve(second)
	s.tried(second)
	s.mustGet(domainOfTests, production.Issued)
	if first.account.(*ecdsa.PrivateKey).Equal(second.account) {
		t.Error("both authorities know the same account key")
	}
}

// The first certificate is asked for again, but not by clients: they are refused
// until it is there.
func TestFirstTryFails(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	now := time.Now()
	a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
	authority.Open(acmetest.Config{TLSPort: s.port()})
	authority.Stop()
	s.serve(a)
	if status := s.tried(a); status.LastError == nil || !status.NotAfter.IsZero() || !status.NextRenewal.IsZero() {
		t.Errorf("the status is %+v", status)
	}
	s.await("there is no certificate for this domain yet", 1)
	authority.Start()
	if _, err := s.get(domainOfTests, authority.Issued); err == nil {
		t.Error("a client was served")
	}
	now = now.Add(firstRetries[0] - 1)
	s.tried(a)
	if n := authority.Calls.Load(); n != 0 {
		t.Errorf("%d calls came before their time", n)
	}
	now = now.Add(1)
	if status := s.tried(a); status.LastError != nil {
		t.Errorf("the status is %+v", status)
	}
	s.mustGet(domainOfTests, authority.Issued)
}

// What the authority says is wrong is told: here it can't connect.
func TestAuthorityRefuses(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	a, _ := s.acme(authority, ACMEConfig{})
	authority.Open(acmetest.Config{}) // it looks for the domain where nobody is
	status := s.tried(a)
	const reason = "challenge tls-alpn-01: Failed to connect"
	if status.LastError == nil || !strings.Contains(status.LastError.Error(), reason) || !strings.Contains(s.log.String(), reason) {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.log)
	}
}

// Without a store nobody is asked: what came could not be kept.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	a, _ := s.acme(authority, ACMEConfig{})
	authority.Open(acmetest.Config{TLSPort: s.port()})
	s.store.Close()
	if status := s.tried(a); status.LastError == nil || authority.Calls.Load() != 0 {
		t.Errorf("%d calls; the status is %+v", authority.Calls.Load(), status)
	}
}

// Who asks for a name that is not ours costs nothing: no call, no wait.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	a, _ := s.acme(authority, ACMEConfig{})
	s.serve(a)
	for name, config := range map[string]*tls.Config{
		"another name":            {ServerName: "other.acme.test"},
		"below ours":              {ServerName: "x." + domainOfTests},
		"no name":                 {},
		"a challenge for another": {ServerName: "other.acme.test", NextProtos: []string{"acme-tls/1"}},
	} {
		config.InsecureSkipVerify = true
		c, err := tls.Dial("tcp", s.l.Addr().String(), config)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := authority.Calls.Load(); n != 0 || s.log.String() != "" {
		t.Errorf("%d calls; the log says:\n%s", n, s.log)
	}
}

// Clients on this machine that ask for no domain of ours get the local
// certificate, those from elsewhere nothing.
func TestLocalClients(t *testing.T) {
	t.Parallel()
	s, authority := newSite(t), acmetest.New(t)
	var ca []byte
	local := s.local(LocalConfig{Trusted: func(pem []byte) error { ca = pem; return nil }})
	a, _ := s.acme(authority, ACMEConfig{Local: local})
	s.serve(a)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	for _, name := range localca.LocalHosts("") {
		if name != "::1" {
			s.mustGet(name, roots)
		}
	}
	if all := a.Status(); len(all) != 2 || all[1].Name != "local CA" {
		t.Errorf("the status is %+v", all)
	}
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close(); there.Close() })
	go tls.Server(far{there}, a.TLS()).Handshake()
	if err := tls.Client(here, &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("a client from elsewhere got the local certificate")
	}
}

// far is a connection from elsewhere.
type far struct{ net.Conn }

func (far) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 7), Port: 1234} }

// All that is no challenge goes to HTTPS, at a domain of ours.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, _ := s.acme(acmetest.New(t), ACMEConfig{HTTP01: true})
	for _, test := range []struct {
		method, host, target string
		status               int
		location             string
	}{
		{"GET", domainOfTests, "/api/v1/members?limit=2", 308, "https://" + domainOfTests + "/api/v1/members?limit=2"},
		{"POST", strings.ToUpper(domainOfTests) + ":8080", "/a%2Fb", 308, "https://" + domainOfTests + "/a%2Fb"},
		{"GET", "evil.example", "/x", 308, "https://" + domainOfTests + "/x"},
		{"GET", domainOfTests, "//evil.example/x", 308, "https://" + domainOfTests + "//evil.example/x"},
		{"GET", domainOfTests, challengePath + "token", 404, ""},
		{"GET", "evil.example", challengePath + "token", 404, ""},
	} {
		q := httptest.NewRequest(test.method, "http://x"+test.target, nil)
		q.Host = test.host
		w := httptest.NewRecorder()
		a.Challenges().ServeHTTP(w, q)
		if location := w.Header().Get("Location"); w.Code != test.status || location != test.location {
			t.Errorf("%s %s at %s: %d, %q", test.method, test.target, test.host, w.Code, location)
		}
	}
}

func TestCheckDomain(t *testing.T) {
	for name, good := range map[string]bool{
		"data.acme.example": true, "a.b": true, "xn--bcher-kva.example": true, "1.acme.example": true,
		strings.Repeat("a", 63) + ".example": true,

		"": false, "localhost": false, "Data.acme.example": false, "data.acme.example.": false, "data..example": false,
		"*.acme.example": false, "data.acme.example:443": false, "127.0.0.1": false, "::1": false, "bücher.example": false,
		"a_b.example": false, "-a.example": false, "a-.example": false, " a.example": false, "https://a.example": false,
		strings.Repeat("a", 64) + ".example": false, strings.Repeat("a.", 126) + "example": false,
	} {
		if err := CheckDomain(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A call is made again at once with another nonce, later when the authority is
// out of order, and not when it was asked too often.
func TestBackoff(t *testing.T) {
	for _, test := range []struct {
		n, status int
		want      time.Duration
	}{
		{1, 400, time.Millisecond}, {30, 400, time.Millisecond}, {31, 400, 0},
		{1, 503, time.Second}, {2, 500, 2 * time.Second}, {20, 503, 8 * time.Second}, {31, 503, 0}, {1, 429, 0},
	} {
		if got := backoff(test.n, nil, &http.Response{StatusCode: test.status}); got != test.want {
			t.Errorf("failure %d, status %d: %v", test.n, test.status, got)
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
