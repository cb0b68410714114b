// Package issuer issues certificates for tests.
package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// CA is a CA that issues certificates for tests.
type CA struct {
	Certificate *x509.Certificate
	PEM         string
	key         *ecdsa.PrivateKey
}

// New makes a CA of its own name.
func New(t testing.TB, name string) *CA {
	t.Helper()
	a := &CA{}
	a.Certificate, a.PEM, a.key = a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// Issue issues a certificate for a client of a name, and for a server on this machine. It is
// in PEM, as its key is.
func (a *CA) Issue(t testing.TB, name string, until time.Time) (certificate, key string) {
	t.Helper()
	_, certificate, private := a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(0, 0), NotAfter: until, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	})
	der, err := x509.MarshalPKCS8PrivateKey(private)
	kit.Must(t, err)
	return certificate, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// Pool trusts the authority alone.
func (a *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate)
	return pool
}

// issue issues a certificate, by itself if the authority has none yet.
func (a *CA) issue(t testing.TB, c *x509.Certificate) (*x509.Certificate, string, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	kit.Must(t, err)
	by, with := c, key
	if a.Certificate != nil {
		by, with = a.Certificate, a.key
	}
	c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	kit.Must(t, err)
	der, err := x509.CreateCertificate(rand.Reader, c, by, key.Public(), with)
	kit.Must(t, err)
	made, err := x509.ParseCertificate(der)
	kit.Must(t, err)
	return made, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), key
}
