package store

// Certificates keep keys and certificates by name, as PEM: the local CA, the
// server's own certificate, an ACME account.
type Certificates interface {
	// Certificate returns what is kept under name; notFound when nothing is.
	Certificate(name string) ([]byte, error)
	PutCertificate(name string, pem []byte) error
}
