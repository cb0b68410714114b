package store

import "time"

// CertificateStatus is the state of a certificate that the server is served with,
// as the admin API, the metrics, doctor and the mail to the operator have it.
type CertificateStatus struct {
	Name        string    // a domain, "local CA", or the certificate's file
	NotAfter    time.Time // when it expires; zero: there is none yet
	NextRenewal time.Time // from when on it is renewed; zero: the operator renews it, or there is none yet
	LastError   string    // of the last attempt to renew it; empty: it succeeded, or there was none
	LastErrorAt time.Time // zero if LastError is empty
}

// operatorRenews is how long before its end the operator is to begin to renew a
// certificate that nobody else renews.
const operatorRenews = 28 * 24 * time.Hour

// Overdue tells whether more than half of the time in which the certificate is to be
// renewed has gone by; for one that the operator renews, that is 14 days before its
// end. One that is not there yet is not overdue.
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

// Certificates keep keys and certificates by name, as PEM: the local CA, the
// server's own certificate, an ACME account.
type Certificates interface {
	// Certificate returns what is kept under name; notFound when nothing is.
	Certificate(name string) ([]byte, error)
	PutCertificate(name string, pem []byte) error
}
