package localca

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// serve shakes hands with every client until the test ends, and returns its
// port.
func serve(t *testing.T, network, addr string, leaf tls.Certificate) (port string) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Skipf("no loopback for %s: %v", network, err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				tls.Server(c, &tls.Config{Certificates: []tls.Certificate{leaf}}).Handshake()
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// dial connects as a client that trusts ca alone and takes the time for now.
func dial(t *testing.T, ca *CA, addr, name string, now time.Time) error {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca.CertificatePEM()) {
		t.Fatal("no certificate in CertificatePEM")
	}
	d := &tls.Dialer{Config: &tls.Config{
		RootCAs:    roots,
		ServerName: name,
		Time:       func() time.Time { return now },
	}}
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err == nil {
		c.Close()
	}
	return err
}

func TestHandshake(t *testing.T) {
	ca, other := newCA(t, epoch), newCA(t, epoch)
	leaf := load(t, issue(t, ca, epoch, LocalHosts("box")...))
	port := serve(t, "tcp4", "127.0.0.1:0", leaf)
	addr := net.JoinHostPort("127.0.0.1", port)

	for _, name := range []string{"localhost", "127.0.0.1", "::1", "box", "BOX"} {
		if err := dial(t, ca, addr, name, epoch); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := dial(t, ca, addr, "elsewhere", epoch); !isA[x509.HostnameError](err) {
		t.Errorf("wrong host: %v", err)
	}
	if err := dial(t, other, addr, "localhost", epoch); !isA[x509.UnknownAuthorityError](err) {
		t.Errorf("other authority: %v", err)
	}
	if err := dial(t, ca, addr, "localhost", epoch.Add(398*day)); !isA[x509.CertificateInvalidError](err) {
		t.Errorf("expired: %v", err)
	}
}

func TestHandshakeOverIPv6(t *testing.T) {
	ca := newCA(t, epoch)
	leaf := load(t, issue(t, ca, epoch, LocalHosts("")...))
	addr := net.JoinHostPort("::1", serve(t, "tcp6", "[::1]:0", leaf))
	if err := dial(t, ca, addr, "", epoch); err != nil {
		t.Error(err)
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// TestOpenSSL asks a second opinion: other clients must accept the chain too.
func TestOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("no openssl on this machine")
	}
	now := time.Now()
	ca := newCA(t, now)
	dir := t.TempDir()
	caFile, leafFile := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "leaf.pem")
	for file, text := range map[string][]byte{
		caFile:   ca.CertificatePEM(),
		leafFile: issue(t, ca, now, LocalHosts("box")...),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, check := range [][]string{
		{"-verify_hostname", "localhost"},
		{"-verify_hostname", "box"},
		{"-verify_ip", "127.0.0.1"},
		{"-verify_ip", "::1"},
	} {
		args := append([]string{"verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", caFile}, check...)
		if out, err := exec.Command(openssl, append(args, leafFile)...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", check, err, out)
		}
	}
}
