package serve_test

import (
	"crypto/x509"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
)

// A certificate that the operator replaces is served after a SIGHUP, and one
// that is unusable is not.
func TestServeOwnCertificate(t *testing.T) {
	t.Parallel()
	ca, err := localca.NewCA(time.Now(), "operator")
	kit.Must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CertificatePEM())
	both := filepath.Join(t.TempDir(), "both.pem")
	issue := func() {
		text, err := ca.Issue(time.Now(), []string{program.Domain})
		kit.Must(t, err)
		kit.Must(t, atomicfile.Write(both, text, 0o600))
	}
	issue()
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--tls-cert", both, "--tls-key", both)
	first := p.Shown(roots)
	if p.CAFile != "" {
		t.Errorf("the ready file names the CA %s", p.CAFile)
	}
	hangUp := func(words string) {
		p.Cmd.Process.Signal(syscall.SIGHUP)
		p.Says(words)
	}
	kit.WriteFile(t, both, "rubbish")
	hangUp("the previous one is still served")
	if !p.Shown(roots).Equal(first) {
		t.Error("another certificate is served")
	}
	issue()
	hangUp("serving the new certificate")
	if p.Shown(roots).Equal(first) {
		t.Error("the old certificate is still served")
	}
	p.StopWell()
}
