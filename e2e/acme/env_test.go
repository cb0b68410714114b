// Package acme_test gets certificates from an authority that speaks ACME, Pebble: by
// server/certificates, on a clock that the test moves, and by the built program.
package acme_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/site"
	"teamdata/server/certificates"
	"teamdata/store"
)

const (
	domainOfTests = "data.acme.test"
	issued        = "the authority issued a new certificate"
	day           = 24 * time.Hour
)

// env is a site that gets its certificate from an authority.
type env struct{ *site.Site }

func newEnv(t testing.TB) *env { return &env{site.New(t)} }

// acme makes a source that lives until the test ends or calls stop. The authority is the
// first one that it asks.
func (s *env) acme(authority *pebble.Authority, c certificates.ACMEConfig) (a *certificates.ACME, stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.Cleanup(cancel)
	c.Domains = append(c.Domains, domainOfTests)
	c.Directories = append([]string{authority.Directory}, c.Directories...)
	c.RootCAs, c.Email, c.Log = authority.Roots(), "ops@acme.test", s.Logger()
	a, err := certificates.NewACME(ctx, s.Store, c)
	kit.Must(s.TB, err)
	return a, cancel
}

// tried refreshes, and returns when nothing runs any more. The status is that of the first
// domain.
func (s *env) tried(a *certificates.ACME) store.CertificateStatus {
	s.Helper()
	return s.triedWithin(a, site.Patience)
}

func (s *env) triedWithin(a *certificates.ACME, limit time.Duration) store.CertificateStatus {
	s.Helper()
	a.Refresh(s.Context())
	ended := make(chan struct{})
	go func() { a.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(limit):
		s.Fatalf("the try did not end; the log says:\n%s", s.Log)
	}
	return a.Status()[0]
}

// kept is what the store has from an authority by a name.
func (s *env) kept(authority *pebble.Authority, name string) (text string) {
	s.Helper()
	err := s.Store.View(s.Context(), func(tx store.Tx) error {
		kept, err := tx.Certificate("acme " + authority.Directory + " " + name)
		text = string(kept)
		return err
	})
	kit.Must(s.TB, err)
	return text
}

// plainPort serves the challenges over plain HTTP.
func plainPort(t testing.TB, a *certificates.ACME) int {
	h := httptest.NewServer(a.Challenges())
	t.Cleanup(h.Close)
	return h.Listener.Addr().(*net.TCPAddr).Port
}

// keepExpired puts a certificate of an authority into the store that expired yesterday.
func (s *env) keepExpired(authority *pebble.Authority) {
	s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	kit.Must(s.TB, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{domainOfTests},
		NotBefore: time.Now().Add(-91 * day), NotAfter: time.Now().Add(-day),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	kit.Must(s.TB, err)
	secret, err := x509.MarshalECPrivateKey(key)
	kit.Must(s.TB, err)
	text := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err = s.Store.Update(s.Context(), store.All, func(tx store.Tx) error { return tx.PutCertificate("acme "+authority.Directory+" "+domainOfTests, text) }); err != nil {
		s.Fatal(err)
	}
}
