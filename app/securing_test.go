package app_test

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

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/program"
	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
)

// byName is a client of the process that knows it as its domain.
func byName(p *program.Process, roots *x509.CertPool) *http.Client {
	at, err := url.Parse(p.URL)
	if err != nil {
		p.T.Fatal(err)
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
func shown(p *program.Process, roots *x509.CertPool) *x509.Certificate {
	p.T.Helper()
	r, err := byName(p, roots).Get("https://" + program.Domain + "/api/v1/members")
	if err != nil {
		p.T.Fatalf("%v\nthe program said:\n%s", err, p.Out)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		p.T.Errorf("answered %d", r.StatusCode)
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
			authority, folder := pebble.New(t), t.TempDir()
			ca, sealKey := filepath.Join(folder, "acme.ca.pem"), filepath.Join(folder, "seal.key")
			data := filepath.Join(folder, "teamdata.db")
			kit.WriteFile(t, ca, string(authority.CAPEM))
			kit.WriteFile(t, sealKey, strings.Repeat("17", 32))
			flags := []string{"--domain", program.Domain, "--acme-accept-terms", "--acme-directory", authority.Directory, "--acme-ca", ca,
				"--acme-email", "ops@acme.test", "--seal-key-file", sealKey, "--seed", program.Example}
			if way == "http-01" {
				flags = append(flags, "--acme-http", "127.0.0.1:0")
			}
			p := program.Serve(t, data, flags...)
			c := pebble.Config{TLSPort: port(p, `"serving"`, `"url":"https://`)}
			if way == "http-01" {
				c = pebble.Config{HTTPPort: port(p, "over plain HTTP", `"address":"`)}
			}
			authority.Open(c)
			leaf := shown(p, authority.Issued)
			if got := strictTransport(t, byName(p, authority.Issued), "https://"+program.Domain+"/settings"); got != "max-age=31536000" {
				t.Errorf("as to HTTPS it says %q", got)
			}
			if got := strictTransport(t, p.Client, p.URL+"/settings"); got != "" {
				t.Errorf("as to HTTPS it tells a client on this machine %q", got)
			}
			if a := p.Must("GET", "/members", program.ReadKey); a.Status != http.StatusOK {
				t.Errorf("a client on this machine was answered %d", a.Status)
			}
			if c.HTTPPort > 0 {
				redirects(t, c.HTTPPort)
			}
			if err := p.Stop(); err != nil {
				t.Errorf("it ended with %v\n%s", err, p.Out)
			}
			if text, err := os.ReadFile(data); err != nil || bytes.Contains(text, []byte("PRIVATE KEY")) {
				t.Errorf("a key is in the clear in a sealed file: %v", err)
			}
			authority.Stop()
			p = program.Serve(t, data, flags...)
			if !shown(p, authority.Issued).Equal(leaf) {
				t.Error("after a restart it is another certificate")
			}
		})
	}
}

// With the first of two authorities down the program gets its certificate from the
// second, and its status, doctor and metrics name that.
func TestServeBySecondAuthority(t *testing.T) {
	first, second, folder := pebble.New(t), pebble.New(t), t.TempDir()
	first.Stop()
	ca, data := filepath.Join(folder, "acme.ca.pem"), filepath.Join(folder, "teamdata.db")
	kit.WriteFile(t, ca, string(second.CAPEM))
	t.Setenv("TEAMDATA_ACME_DIRECTORY", first.Directory+","+second.Directory)
	p := program.Serve(t, data, "--domain", program.Domain, "--acme-accept-terms", "--acme-ca", ca, "--metrics", "127.0.0.1:0")
	second.Open(pebble.Config{TLSPort: port(p, `"serving"`, `"url":"https://`)})
	shown(p, second.Issued)
	out, _ := program.Run(t, "status", "--json", "--data", data)
	if !strings.Contains(out, second.Directory) {
		t.Errorf("status says:\n%s", out)
	}
	out, _ = program.Run(t, "doctor", "--data", data)
	if !strings.Contains(out, "the certificate "+program.Domain+" is from "+second.Directory) {
		t.Errorf("doctor says:\n%s", out)
	}
	if name := "teamdata_certificate_info authority=" + second.Directory + " name=" + program.Domain; scraped(t, http.DefaultClient, metricsURL(p))[name] != 1 {
		t.Errorf("there is no metric %s", name)
	}
}

// port is the one in a line of the log, behind some words and an address.
func port(p *program.Process, line, words string) (port int) {
	p.T.Helper()
	behind := regexp.MustCompile(words + `127\.0\.0\.1:(\d+)`)
	p.Await(line, func() bool {
		for _, said := range p.Out.Lines() {
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
	q.Host = program.Domain
	r, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if location := r.Header.Get("Location"); r.StatusCode != http.StatusPermanentRedirect || location != "https://"+program.Domain+"/api/v1/members" {
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
		text, err := ca.Issue(time.Now(), []string{program.Domain})
		if err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Write(both, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	issue()
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--tls-cert", both, "--tls-key", both)
	first := shown(p, roots)
	if p.CAFile != "" {
		t.Errorf("the ready file names the CA %s", p.CAFile)
	}
	hangUp := func(words string) {
		p.Cmd.Process.Signal(syscall.SIGHUP)
		p.Await(words, func() bool { return strings.Contains(p.Out.String(), words) })
	}
	kit.WriteFile(t, both, "rubbish")
	hangUp("the previous one is still served")
	if !shown(p, roots).Equal(first) {
		t.Error("another certificate is served")
	}
	issue()
	hangUp("serving the new certificate")
	if shown(p, roots).Equal(first) {
		t.Error("the old certificate is still served")
	}
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Out)
	}
}
