// Package localca is a certificate authority for one machine: a server without a public
// name gets a certificate that its clients can verify.
//
// It reads no clock, and stores nothing but what [Loopback] says. The caller stores the PEM text of the authority
// and of its leaf, and gives [CA.CertificatePEM] to clients.
//
// It imports only internal/canonical. When certificates are renewed while they are served is a
// matter of server/certificates; how they are made, and for how long, belongs here.
package localca

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	caYears = 10

	// skew is how far a client's clock may be behind ours.
	skew = time.Hour

	// nameMax keeps the subject within the 64 characters that RFC 5280 allows
	// a common name.
	nameMax = 32
)

// CA is an authority: its certificate and its private key. It doesn't change,
// and is safe for use by several goroutines at once.
type CA struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// NewCA makes an authority with a key of its own (ECDSA P-256), valid for 10
// years from now. It may issue leaves, but no further authorities. The name,
// usually the machine's, and the date tell people's trust stores one authority
// from another; no more than 32 bytes of the name are used.
func NewCA(now time.Time, name string) (*CA, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: subject(now, name)},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.AddDate(caYears, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	cert, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &CA{cert, key}, nil
}

func subject(now time.Time, name string) string {
	name = strings.ToValidUTF8(name[:min(len(name), nameMax)], "")
	return fmt.Sprintf("teamdata local CA (%s, %s)", name, now.UTC().Format(time.DateOnly))
}

// ParseCA reads what [CA.PEM] returned. It fails when the text lacks a usable
// certificate or its private key, or the certificate may not issue others.
func ParseCA(text []byte) (*CA, error) {
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("localca: unusable authority: %w", err)
	}
	cert := pair.Leaf
	if !cert.BasicConstraintsValid || !cert.IsCA || cert.KeyUsage&x509.KeyUsageCertSign == 0 {
		return nil, errors.New("localca: unusable authority: its certificate may not issue others")
	}
	// X509KeyPair has compared the public halves, so the key can sign.
	return &CA{cert, pair.PrivateKey.(crypto.Signer)}, nil
}

// PEM returns the certificate and the private key (PKCS #8): all there is to
// the authority, and secret.
func (ca *CA) PEM() []byte { return encode(ca.cert, ca.key) }

// CertificatePEM returns the certificate alone, for clients to trust.
func (ca *CA) CertificatePEM() []byte { return encode(ca.cert, nil) }

// NotBefore returns the first instant at which clients accept the authority.
func (ca *CA) NotBefore() time.Time { return ca.cert.NotBefore }

// NotAfter returns the last instant at which clients accept the authority.
func (ca *CA) NotAfter() time.Time { return ca.cert.NotAfter }

func (ca *CA) expired(now time.Time) bool { return !now.Before(ca.cert.NotAfter) }

// check returns why clients don't accept the authority at now.
func (ca *CA) check(now time.Time) error {
	switch {
	case ca.expired(now):
		return fmt.Errorf("localca: the authority expired on %s", ca.cert.NotAfter.Format(time.DateOnly))
	case now.Before(ca.cert.NotBefore):
		return fmt.Errorf("localca: the authority is not valid before %s: it was made while the clock was ahead, or the clock is behind now", ca.cert.NotBefore.Format(time.DateTime))
	}
	return nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("localca: make a key: %w", err)
	}
	return key, nil
}

// sign gives a certificate a random serial number: authorities of the same name never issue
// the same one twice.
func sign(template, issuer *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, public, key)
	if err != nil {
		return nil, fmt.Errorf("localca: sign: %w", err)
	}
	return x509.ParseCertificate(der)
}
