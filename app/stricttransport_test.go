package app_test

import (
	"crypto/x509"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"teamdata/e2e/kit/program"
	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
)

// strictTransport is what a page says to a client about HTTPS.
func strictTransport(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.Header.Get("Strict-Transport-Security")
}

// Pages with a certificate that clients trust by themselves are for HTTPS only. The
// local CA and plain HTTP insist on nothing.
func TestStrictTransport(t *testing.T) {
	ca, err := localca.NewCA(time.Now(), "operator")
	if err != nil {
		t.Fatal(err)
	}
	both, err := ca.Issue(time.Now(), []string{program.Domain, "localhost", "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	cert := filepath.Join(folder, "both.pem")
	if err := atomicfile.Write(cert, both, 0o600); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CertificatePEM())
	p := program.Serve(t, filepath.Join(folder, "own.db"), "--tls-cert", cert, "--tls-key", cert)
	if got := strictTransport(t, byName(p, roots), "https://"+program.Domain+"/settings"); got != "max-age=31536000" {
		t.Errorf("with an own certificate: %q", got)
	}
	for _, flags := range [][]string{nil, {"--http"}} {
		p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), flags...)
		if got := strictTransport(t, p.Client, p.URL+"/settings"); got != "" {
			t.Errorf("%v: %q", flags, got)
		}
	}
}
