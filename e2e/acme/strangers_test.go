package acme_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"

	"teamdata/e2e/kit/pebble"
	"teamdata/internal/localca"
	"teamdata/server/certificates"
)

// A request for a name that is not ours costs nothing: no call, no wait.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, _ := s.acme(authority, certificates.ACMEConfig{})
	s.Serve(a.TLS())
	for name, config := range map[string]*tls.Config{
		"another name":            {ServerName: "other.acme.test"},
		"below ours":              {ServerName: "x." + domainOfTests},
		"no name":                 {},
		"a challenge for another": {ServerName: "other.acme.test", NextProtos: []string{"acme-tls/1"}},
	} {
		config.InsecureSkipVerify = true
		c, err := tls.Dial("tcp", s.Address(), config)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := authority.Calls.Load(); n != 0 || s.Log.String() != "" {
		t.Errorf("%d calls; the log says:\n%s", n, s.Log)
	}
}

// Clients on this machine that ask for no domain of ours get the local
// certificate, those from elsewhere nothing.
func TestLocalClients(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	var ca []byte
	local, err := certificates.NewLocal(t.Context(), s.Store, certificates.LocalConfig{
		Hosts: localca.LocalHosts(""), Trusted: func(pem []byte) error { ca = pem; return nil }, Log: s.Logger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.acme(authority, certificates.ACMEConfig{Local: local})
	s.Serve(a.TLS())
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	for _, name := range localca.LocalHosts("") {
		if name != "::1" {
			s.MustGet(name, roots)
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
