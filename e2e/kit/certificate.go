package kit

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
)

// Certificate makes a certificate for clients and its key, both in PEM, that its issuer has
// signed, whose certificate follows. It lasts from a year before its end.
func Certificate(t testing.TB, name, issuer string, end time.Time) (chain, key string) {
	t.Helper()
	template := func(name string, n int64) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(n), Subject: pkix.Name{CommonName: name}, NotBefore: end.AddDate(-1, 0, 0), NotAfter: end,
			BasicConstraintsValid: true, IsCA: n == 1, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
	}
	ca, caKey := template(issuer, 1), newKey(t)
	leaf, leafKey := template(name, 2), newKey(t)
	encode := func(kind string, der []byte, err error) string {
		t.Helper()
		Must(t, err)
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, leafKey.Public(), caKey)
	chain = encode("CERTIFICATE", der, err)
	der, err = x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	chain += encode("CERTIFICATE", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(leafKey)
	return chain, encode("PRIVATE KEY", der, err)
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	return key
}
