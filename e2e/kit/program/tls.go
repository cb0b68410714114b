package program

import (
	"crypto/x509"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"teamdata/e2e/kit"
)

// ByName is a client of the process that knows it as its domain.
func (p *Process) ByName(roots *x509.CertPool) *http.Client {
	return kit.ClientAt(strings.TrimPrefix(p.URL, "https://"), roots)
}

// Shown is the certificate that the process shows.
func (p *Process) Shown(roots *x509.CertPool) *x509.Certificate {
	p.T.Helper()
	r, err := p.ByName(roots).Get("https://" + Domain + "/api/v1/members")
	if err != nil {
		p.T.Fatalf("%v\nthe program said:\n%s", err, p.Out)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		p.T.Errorf("answered %d", r.StatusCode)
	}
	return r.TLS.PeerCertificates[0]
}

// Port is the one in a line of the log, behind some words and an address.
func (p *Process) Port(line, words string) (port int) {
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
