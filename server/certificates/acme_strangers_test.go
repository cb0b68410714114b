package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"teamdata/e2e/kit/pebble"
	"teamdata/internal/localca"
)

// A request for a name that is not ours costs nothing: no call, no wait.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
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
	s, authority := newEnv(t), pebble.New(t)
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

// Every request but a challenge is redirected to HTTPS, at one of our domains.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	a, _ := s.acme(pebble.New(t), ACMEConfig{HTTP01: true})
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
