package store

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"time"
)

// Bounds of certificates, in bytes of PEM.
const (
	maxClientCertificate = 32 << 10
	maxClientKey         = 16 << 10
	maxCA                = 64 << 10

	maxCertificates = 20 // in one PEM
)

// certificatesIn reads 1 to 20 certificates, and returns them in PEM without what was written
// around them.
func certificatesIn(field, text string, most int) (string, []*x509.Certificate, error) {
	if len(text) > most {
		return "", nil, Invalid(field, "has %d bytes", len(text)).Advise("at most %d are allowed", most)
	}
	var certificates []*x509.Certificate
	var plain bytes.Buffer
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return "", nil, Invalid(field, "holds a %.40s beside certificates", block.Type).Advise("give the certificates alone")
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "", nil, Invalid(field, "holds a certificate, number %d, that can't be read", len(certificates)+1).Advise("look at it with: openssl x509 -noout -text")
		}
		certificates = append(certificates, c)
		pem.Encode(&plain, &pem.Block{Type: block.Type, Bytes: block.Bytes})
	}
	switch n := len(certificates); {
	case n == 0:
		return "", nil, Invalid(field, "holds no certificate in PEM").Advise("it begins with -----BEGIN CERTIFICATE-----")
	case n != strings.Count(text, "-----BEGIN "):
		return "", nil, Invalid(field, "holds a certificate that is cut off, or damaged").Advise("copy the whole file")
	case n > maxCertificates:
		return "", nil, Invalid(field, "holds %d certificates", n).Advise("at most %d are allowed", maxCertificates)
	}
	return plain.String(), certificates, nil
}

// checkCertificates returns certificates in PEM without what was written around them.
func checkCertificates(field, text string, most int) (string, error) {
	plain, _, err := certificatesIn(field, text, most)
	return plain, err
}

// checkClientCertificate checks that the certificate and its key fit each other.
func (o *SendOptions) checkClientCertificate() error {
	ends := o.CertificateEnds
	o.CertificateEnds = time.Time{}
	switch {
	case o.ClientCertificate == "" && o.ClientKey == "":
		o.CertificateMailed = false
		return nil
	case o.ClientKey == "":
		return Invalid("clientKey", "is missing").Advise("give it with its clientCertificate")
	case o.ClientCertificate == "":
		return Invalid("clientCertificate", "is missing").Advise("give it with its clientKey")
	}
	plain, chain, err := certificatesIn("clientCertificate", o.ClientCertificate, maxClientCertificate)
	if err != nil {
		return err
	}
	key, err := clientKeyIn(o.ClientKey)
	if err != nil {
		return err
	}
	if _, err := tls.X509KeyPair([]byte(plain), []byte(key)); err != nil {
		return misfit(chain, key)
	}
	o.ClientCertificate, o.ClientKey, o.CertificateEnds = plain, key, chain[0].NotAfter
	for _, c := range chain {
		if c.NotAfter.Before(o.CertificateEnds) {
			o.CertificateEnds = c.NotAfter
		}
	}
	o.CertificateMailed = o.CertificateMailed && o.CertificateEnds.Equal(ends)
	return nil
}

// misfit says why the first of a chain doesn't fit the key.
func misfit(chain []*x509.Certificate, key string) error {
	for _, c := range chain[1:] {
		if _, err := tls.X509KeyPair(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), []byte(key)); err == nil {
			return Invalid("clientCertificate", "does not begin with the certificate of the key").Advise("put that one first, and its issuers behind it")
		}
	}
	return Invalid("clientKey", "is not the key of the clientCertificate").Advise("give both of one pair")
}

// clientKeyIn reads a private key, and returns it in PEM without what was written around it.
func clientKeyIn(text string) (string, error) {
	if len(text) > maxClientKey {
		return "", Invalid("clientKey", "has %d bytes", len(text)).Advise("at most %d are allowed", maxClientKey)
	}
	var key []byte
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return "", Invalid("clientKey", "is encrypted").Advise("decrypt it first: openssl pkey -in KEY -out PLAIN")
		case block.Type == "EC PARAMETERS" || block.Type == "CERTIFICATE": // as openssl ecparam writes, and many who put both in one file
			continue
		case !strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return "", Invalid("clientKey", "holds a %.40s", block.Type).Advise("give the private key alone")
		case key != nil:
			return "", Invalid("clientKey", "holds more than one key").Advise("give the one of the clientCertificate")
		}
		if !isPrivateKey(block.Bytes) {
			return "", Invalid("clientKey", "is damaged, or of a kind that TLS can't use").Advise("give one of RSA, Ed25519, or ECDSA on P-256, P-384 or P-521")
		}
		key = pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})
	}
	if key == nil {
		return "", Invalid("clientKey", "holds no private key in PEM").Advise("it begins with -----BEGIN PRIVATE KEY-----")
	}
	return string(key), nil
}

// isPrivateKey reports whether DER is a private key that can sign, in any of the forms that
// crypto/tls reads.
func isPrivateKey(der []byte) bool {
	if _, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return true
	}
	var key any
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		key, err = x509.ParsePKCS8PrivateKey(der)
	}
	if ec, ok := key.(*ecdsa.PrivateKey); ok && ec.Curve == elliptic.P224() {
		return false
	}
	_, signs := key.(crypto.Signer)
	return err == nil && signs
}

// checkNotEnded refuses a certificate that receivers would refuse. An import doesn't: there, it
// may have ended since.
func (o *SendOptions) checkNotEnded(now time.Time) error {
	if o.CertificateEnds.IsZero() || now.Before(o.CertificateEnds) {
		return nil
	}
	return Invalid("clientCertificate", "holds a certificate that expired at %s", FormatTime(o.CertificateEnds)).Advise("give the one that replaced it")
}

// ClientCertificateOf begins the Name of the CertificateStatus of a client certificate; the
// ids of the org and the endpoint follow, with a slash between them.
const ClientCertificateOf = "client certificate of "

// maxEndingCertificates is how many client certificates are named that expire soon.
const maxEndingCertificates = 20

// EndingClientCertificates returns those that expire within 28 days, or expired in the last 28,
// of endpoints that are enabled, the first to do so first, up to 20. It reads all endpoints.
func (t Tx) EndingClientCertificates() (found []CertificateStatus, err error) {
	from, until := t.Now().Add(-operatorRenews), t.Now().Add(operatorRenews)
	err = t.eachSent(func(e *Endpoint) {
		if ends := e.Sending.CertificateEnds; !e.Disabled() && ends.After(from) && !ends.After(until) {
			found = append(found, CertificateStatus{Name: ClientCertificateOf + e.OrgID + "/" + e.ID, NotAfter: ends})
		}
	})
	slices.SortFunc(found, func(a, b CertificateStatus) int {
		return cmp.Or(a.NotAfter.Compare(b.NotAfter), strings.Compare(a.Name, b.Name))
	})
	return found[:min(len(found), maxEndingCertificates)], err
}

// StillEnding returns those of EndingClientCertificates that endpoints still have. It reads
// these endpoints alone.
func StillEnding(tx Tx, found []CertificateStatus) (still []CertificateStatus, err error) {
	for _, c := range found {
		org, id, _ := strings.Cut(strings.TrimPrefix(c.Name, ClientCertificateOf), "/")
		e, failed := tx.Endpoint(org, id)
		if failed == nil && !e.Disabled() && e.Sending.CertificateEnds.Equal(c.NotAfter) {
			still = append(still, c)
		}
		err = errors.Join(err, unlessNotFound(failed))
	}
	return still, err
}

// warnOfClientCertificates queues mails about the client certificates that expire within 14
// days, once for each.
func (w *sweep) warnOfClientCertificates() {
	toWarn := func(tx Tx, e *Endpoint) (bool, error) {
		ends := CertificateStatus{NotAfter: e.Sending.CertificateEnds}
		return ends.Overdue(tx.Now()) && !e.Sending.CertificateMailed, nil
	}
	w.eachOf(Tx.eachSent, toWarn, func(tx Tx, e Endpoint) error {
		if yes, _ := toWarn(tx, &e); !yes { // it was replaced meanwhile
			return nil
		}
		w.mailed, e.Sending.CertificateMailed = true, true
		org, err := tx.Org(e.OrgID)
		if err != nil {
			return err
		}
		if err := tx.PutEndpoint(e); err != nil {
			return err
		}
		return mailManagers(tx, e.OrgID, MailClientCertificateExpiring, map[string]string{
			"orgName": org.Name, "endpointId": e.ID, "endpointName": e.Label(), "endpointUrl": e.URL, "expiresAt": FormatTime(e.Sending.CertificateEnds),
		})
	})
}
