package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/internal/acmetest"
	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
)

const ownDomain = "data.acme.test"

// byName is a client of the process that knows it as its domain.
func (p *process) byName(roots *x509.CertPool) *http.Client {
	at, err := url.Parse(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
		},
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// shown is the certificate that the process shows.
func (p *process) shown(roots *x509.CertPool) *x509.Certificate {
	p.t.Helper()
	r, err := p.byName(roots).Get("https://" + ownDomain + "/api/v1/members")
	if err != nil {
		p.t.Fatalf("%v\nthe program said:\n%s", err, p.out)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		p.t.Errorf("answered %d", r.StatusCode)
	}
	return r.TLS.PeerCertificates[0]
}

// The program gets its certificate from an authority, in both ways, keeps it
// sealed, and asks for no other after a restart. Clients on this machine are
// served by its local CA.
func TestServeByACME(t *testing.T) {
	for _, way := range []string{"tls-alpn-01", "http-01"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			authority, folder := acmetest.New(t), t.TempDir()
			ca, sealKey := filepath.Join(folder, "acme.ca.pem"), filepath.Join(folder, "seal.key")
			data := filepath.Join(folder, "teamdata.db")
			writeFile(t, ca, string(authority.CAPEM))
			writeFile(t, sealKey, strings.Repeat("17", 32))
			flags := []string{"--domain", ownDomain, "--acme-accept-terms", "--acme-directory", authority.Directory, "--acme-ca", ca,
				"--acme-email", "ops@acme.test", "--seal-key-file", sealKey, "--seed", "testdata/example.json"}
			if way == "http-01" {
				flags = append(flags, "--acme-http", "127.0.0.1:0")
			}
			p := serveProcess(t, data, flags...)
			c := acmetest.Config{TLSPort: p.port(`"serving"`, `"url":"https://`)}
			if way == "http-01" {
				c = acmetest.Config{HTTPPort: p.port("over plain HTTP", `"address":"`)}
			}
			authority.Open(c)
			leaf := p.shown(authority.Issued)
			if a := p.must("GET", "/members", readKey); a.status != http.StatusOK {
				t.Errorf("a client on this machine was answered %d", a.status)
			}
			if c.HTTPPort > 0 {
				redirects(t, c.HTTPPort)
			}
			if err := p.stop(); err != nil {
				t.Errorf("it ended with %v\n%s", err, p.out)
			}
			if text, err := os.ReadFile(data); err != nil || bytes.Contains(text, []byte("PRIVATE KEY")) {
				t.Errorf("a key is in the clear in a sealed file: %v", err)
			}
			authority.Stop()
			p = serveProcess(t, data, flags...)
			if !p.shown(authority.Issued).Equal(leaf) {
				t.Error("after a restart it is another certificate")
			}
		})
	}
}

// port is the one in a line of the log, behind some words and an address.
func (p *process) port(line, words string) (port int) {
	p.t.Helper()
	behind := regexp.MustCompile(words + `127\.0\.0\.1:(\d+)`)
	p.await(line, func() bool {
		for _, said := range p.out.lines() {
			if m := behind.FindStringSubmatch(said); m != nil && strings.Contains(said, line) {
				port, _ = strconv.Atoi(m[1])
			}
		}
		return port > 0
	})
	return port
}

func redirects(t *testing.T, port int) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("http://127.0.0.1:%d/api/v1/members", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Host = ownDomain
	r, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if location := r.Header.Get("Location"); r.StatusCode != http.StatusPermanentRedirect || location != "https://"+ownDomain+"/api/v1/members" {
		t.Errorf("plain HTTP is answered %d, %q", r.StatusCode, location)
	}
}

// A certificate that the operator replaces is served after a SIGHUP, and one
// that is unusable is not.
func TestServeOwnCertificate(t *testing.T) {
	t.Parallel()
	ca, err := localca.NewCA(time.Now(), "operator")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CertificatePEM())
	both := filepath.Join(t.TempDir(), "both.pem")
	issue := func() {
		text, err := ca.Issue(time.Now(), []string{ownDomain})
		if err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Write(both, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	issue()
	p := serveProcess(t, filepath.Join(t.TempDir(), "teamdata.db"), "--tls-cert", both, "--tls-key", both)
	first := p.shown(roots)
	if p.caFile != "" {
		t.Errorf("the ready file names the CA %s", p.caFile)
	}
	hangUp := func(words string) {
		p.cmd.Process.Signal(syscall.SIGHUP)
		p.await(words, func() bool { return strings.Contains(p.out.String(), words) })
	}
	writeFile(t, both, "rubbish")
	hangUp("the one before is served on")
	if !p.shown(roots).Equal(first) {
		t.Error("another certificate is served")
	}
	issue()
	hangUp("serving the new certificate")
	if p.shown(roots).Equal(first) {
		t.Error("the old certificate is still served")
	}
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.out)
	}
}
