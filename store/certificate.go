package store

import "time"

// CertificateStatus is the state of one of the server's certificates, for the
// admin API, the metrics, doctor and the mail to the operator.
type CertificateStatus struct {
	Name        string    // a domain, "local CA", or the certificate's file
	Authority   string    // URL of the directory of the ACME authority that issued it; empty: none did
	NotAfter    time.Time // when it expires; zero: there is none yet
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

// Certificates store keys and certificates by name, as PEM: the local CA, the
// server's own certificate, an ACME account.
type Certificates interface {
	// Certificate returns the PEM stored under name, or notFound.
	Certificate(name string) ([]byte, error)
	PutCertificate(name string, pem []byte) error
}
