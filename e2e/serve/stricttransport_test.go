package serve_test

import (
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
)

// Pages with a certificate that clients trust by themselves are for HTTPS only. The
// local CA and plain HTTP insist on nothing.
func TestStrictTransport(t *testing.T) {
	ca, err := localca.NewCA(time.Now(), "operator")
	kit.Must(t, err)
	both, err := ca.Issue(time.Now(), []string{program.Domain, "localhost", "127.0.0.1"})
	kit.Must(t, err)
	folder := t.TempDir()
	cert := filepath.Join(folder, "both.pem")
	kit.Must(t, atomicfile.Write(cert, both, 0o600))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CertificatePEM())
	p := program.Serve(t, filepath.Join(folder, "own.db"), "--tls-cert", cert, "--tls-key", cert)
	if got := kit.Get(t, p.ByName(roots), "https://"+program.Domain+"/settings").Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("with an own certificate: %q", got)
	}
	for _, flags := range [][]string{nil, {"--http"}} {
		p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), flags...)
		if got := kit.Get(t, p.Client, p.URL+"/settings").Header.Get("Strict-Transport-Security"); got != "" {
			t.Errorf("%v: %q", flags, got)
		}
	}
}
