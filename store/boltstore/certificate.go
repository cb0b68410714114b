package boltstore

import (
	"bytes"

	"teamdata/store"
)

func (t *tx) Certificate(name string) ([]byte, error) {
	kept := t.bolt.Bucket(bucketCertificates).Get([]byte(name))
	if kept == nil {
		return nil, store.Errorf(store.CodeNotFound, "There is no such certificate.")
	}
	pem, err := t.s.seal.openCertificate([]byte(name), kept)
	return pem, storageFault(err)
}

func (t *tx) PutCertificate(name string, pem []byte) error {
	return t.put(t.bucket(bucketCertificates), []byte(name), t.s.seal.sealCertificate([]byte(name), pem))
}

// sealCertificate returns a certificate as it is stored.
func (s sealing) sealCertificate(name, pem []byte) []byte {
	if !s.on() {
		return bytes.Clone(pem)
	}
	return s.seal(pem, bucketCertificates, name, "")
}

// openCertificate is the reverse of sealCertificate.
func (s sealing) openCertificate(name, kept []byte) ([]byte, error) {
	if !s.on() {
		return bytes.Clone(kept), nil
	}
	return s.open(kept, bucketCertificates, name, "")
}
