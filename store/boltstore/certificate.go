package boltstore

import "teamdata/store"

func (t *tx) Certificate(name string) ([]byte, error) {
	kept := t.bolt.Bucket(bucketCertificates).Get([]byte(name))
	if kept == nil {
		return nil, store.Errorf(store.CodeNotFound, "There is no such certificate.")
	}
	pem, err := t.s.seal.OpenCertificate(bucketCertificates, []byte(name), kept)
	return pem, storageFault(err)
}

func (t *tx) PutCertificate(name string, pem []byte) error {
	return t.put(t.bucket(bucketCertificates), []byte(name), t.s.seal.SealCertificate(bucketCertificates, []byte(name), pem))
}
