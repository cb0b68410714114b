package store

import (
	"time"

	"teamdata/store/rows"
)

// CertificateStatus is the state of one of the server's certificates, for the
// admin API, the metrics, doctor and the mail to the operator.
type CertificateStatus struct {
	Name        string    // a domain, "local CA", or the certificate's file
	Authority   string    // URL of the directory of the ACME authority that issued it; empty: none did
	NotAfter    time.Time // when it expires; zero: none yet
	NextRenewal time.Time // when renewal starts; zero: the operator renews it, or there is none yet
	LastError   string    // of the last attempt to renew it; empty: it succeeded, or there was none
	LastErrorAt time.Time // zero if LastError is empty
}

// operatorRenews is how long before expiry the operator should start renewing a
// certificate that the server doesn't renew.
const operatorRenews = 28 * 24 * time.Hour

// Overdue reports whether more than half of the renewal window has passed; for a
// certificate that the operator renews, that is 14 days before expiry. A
// certificate that does not exist yet is not overdue.
func (s CertificateStatus) Overdue(now time.Time) bool {
	if s.NotAfter.IsZero() {
		return false
	}
	begin := s.NextRenewal
	if begin.IsZero() {
		begin = s.NotAfter.Add(-operatorRenews)
	}
	return now.After(begin.Add(s.NotAfter.Sub(begin) / 2))
}

// certificate is PEM with its name. As its only field it is sealed as a whole.
type certificate struct{ name, pem string }

var certificates = rows.Define(&rows.Table[certificate]{
	Kind: rows.Kind{Name: "certificates", Noun: "certificate"},
	Key:  func(dst []byte, p *certificate) []byte { return append(dst, p.name...) },
	Fields: func(c *rows.Codec, p *certificate) {
		pem := []byte(p.pem)
		c.Rest(&pem)
		p.pem = string(pem)
	},
	Complete: func(key []byte, p *certificate) { p.name = string(key) },
	Secrets:  func(p *certificate) []rows.Secret { return []rows.Secret{{Text: &p.pem}} },
})

// Certificate returns the PEM stored under name, or notFound.
func (t Tx) Certificate(name string) ([]byte, error) {
	p, err := find(certificates, t, t.Text(name))
	if err != nil {
		return nil, err
	}
	return []byte(p.pem), nil
}

func (t Tx) PutCertificate(name string, pem []byte) error {
	return certificates.Put(t.Tx, &certificate{name, string(pem)})
}
