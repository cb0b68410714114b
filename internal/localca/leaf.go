package localca

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// leafLife is what clients of public certificates have long been used to.
	leafLife = 397 * 24 * time.Hour

	// RenewBefore is how long before its end a leaf is no longer Good. It leaves
	// a server that is restarted monthly time to renew.
	RenewBefore = 30 * 24 * time.Hour
)

// Issue makes a server certificate with a key of its own (ECDSA P-256) for
// hosts, each a DNS name or an IP address, and returns both as PEM text. It is
// valid for 397 days from an hour before now, but no longer than the authority
// itself. It fails when a host is neither, there is none, or the authority has
// expired or is not valid yet.
func (ca *CA) Issue(now time.Time, hosts []string) ([]byte, error) {
	names, ips, err := split(hosts)
	if err != nil {
		return nil, err
	}
	if err := ca.check(now); err != nil {
		return nil, err
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	notBefore := now.Add(-skew)
	leaf, err := sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "teamdata"},
		DNSNames:              names,
		IPAddresses:           ips,
		NotBefore:             notBefore,
		NotAfter:              slices.MinFunc([]time.Time{notBefore.Add(leafLife), ca.cert.NotAfter}, time.Time.Compare),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}, ca.cert, key.Public(), ca.key)
	if err != nil {
		return nil, err
	}
	return encode(leaf, key), nil
}

// LoadLeaf reads what [CA.Issue] returned. Leaf is set in the result. It fails
// when the text lacks a usable certificate or its private key.
func LoadLeaf(text []byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("localca: unusable certificate: %w", err)
	}
	return pair, nil
}

// ServerConfig is the TLS configuration of a server whose certificate the authority
// issues now. It fails where [CA.Issue] does.
func (ca *CA) ServerConfig(now time.Time, hosts ...string) (*tls.Config, error) {
	text, err := ca.Issue(now, hosts)
	if err != nil {
		return nil, err
	}
	leaf, err := LoadLeaf(text)
	return &tls.Config{Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS12}, err
}

// Loopback is the TLS configuration of a server on 127.0.0.1 with an authority of its
// own, named as [NewCA] says, whose certificate is written to caFile for clients.
func Loopback(now time.Time, name, caFile string) (*tls.Config, error) {
	ca, err := NewCA(now, name)
	if err != nil {
		return nil, err
	}
	config, err := ca.ServerConfig(now, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	return config, os.WriteFile(caFile, ca.CertificatePEM(), 0o600)
}

// Good reports whether leaf, which [LoadLeaf] returned, can go on being served:
// this authority issued it, it covers all hosts, and more than 30 days of its
// validity are left.
func (ca *CA) Good(leaf tls.Certificate, now time.Time, hosts []string) bool {
	cert := leaf.Leaf
	return cert != nil &&
		now.Add(RenewBefore).Before(cert.NotAfter) &&
		ca.verify(cert, now) == nil &&
		covers(cert, hosts)
}

// verify does what a client does that trusts this authority only.
func (ca *CA) verify(cert *x509.Certificate, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	_, err := cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now})
	return err
}

func covers(cert *x509.Certificate, hosts []string) bool {
	return len(hosts) > 0 && !slices.ContainsFunc(hosts, func(host string) bool {
		name, _, _ := strings.Cut(host, "%") // a certificate can't contain a zone
		return cert.VerifyHostname(name) != nil
	})
}

// encode returns the PEM text of cert, and of key unless it is nil.
func encode(cert *x509.Certificate, key crypto.Signer) []byte {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
	if key == nil {
		return text
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err) // only for kinds of keys that we neither make nor parse
	}
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...)
}
