package pgstore

import "teamdata/store"

var (
	certificates     = define("certificates", 1, text("name"), blob("pem"))
	certificatePlace = []byte("certificates")
)

func (t *tx) Certificate(name string) ([]byte, error) {
	found, err := t.get(certificates, plain(name))
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, store.Errorf(store.CodeNotFound, "There is no such certificate.")
	}
	pem, err := t.s.seal.OpenCertificate(certificatePlace, plain(name), found[1])
	return pem, fault(err)
}

func (t *tx) PutCertificate(name string, pem []byte) error {
	return t.put(certificates, row{plain(name), t.s.seal.SealCertificate(certificatePlace, plain(name), pem)})
}
