package certificates

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/acme/autocert"

	"teamdata/internal/hint"
	"teamdata/store"
)

// cache keeps a domain's certificate in the store. It also shows when autocert
// renews: a renewal begins with a Get and ends with a Put.
type cache struct{ domain *domain }

// Get reads the certificate. The data of challenges is not stored: there is only
// one process, which has it in memory.
func (c cache) Get(ctx context.Context, key string) (text []byte, err error) {
	d := c.domain
	if key != d.name {
		return nil, autocert.ErrCacheMiss
	}
	d.asking.Store(true)
	d.logNext()
	err = d.acme.store.View(ctx, func(tx store.Tx) error {
		kept, err := tx.Certificate(d.acme.storeName(key))
		text = bytes.Clone(kept)
		return err
	})
	if store.IsNotFound(err) {
		return nil, autocert.ErrCacheMiss
	}
	if err != nil {
		d.callFailed(err)
	}
	return text, err
}

// Put stores a new certificate.
func (c cache) Put(ctx context.Context, key string, text []byte) error {
	d := c.domain
	if key != d.name {
		return nil
	}
	err := d.acme.store.Update(ctx, func(tx store.Tx) error { return tx.PutCertificate(d.acme.storeName(key), text) })
	if err != nil {
		d.callFailed(fmt.Errorf("the new certificate can't be stored: %w", err))
		return err
	}
	d.asking.Store(false)
	d.reset()
	d.log.Info().Msg("the authority gave a new certificate")
	return nil
}

// Delete has nothing to do: see Get.
func (c cache) Delete(context.Context, string) error { return nil }

// callFailed records the error of a call that is needed for a certificate. Errors of
// the cleaning up that autocert does afterwards are ignored.
func (d *domain) callFailed(err error) {
	if d.asking.Load() && d.acme.life.Err() == nil {
		d.record(err, "getting a certificate from the authority failed")
	}
}

// accountKey is the key of our account with the authority. It is made when the
// store has none.
func accountKey(ctx context.Context, s store.Store, name string) (key crypto.Signer, err error) {
	read := func(tx store.Tx) error {
		text, err := tx.Certificate(name)
		if err != nil {
			return err
		}
		key, err = parseKey(text)
		return err
	}
	if err = s.View(ctx, read); !store.IsNotFound(err) {
		return key, err
	}
	text, err := newKey()
	if err != nil {
		return nil, err
	}
	err = s.Update(ctx, func(tx store.Tx) error {
		if err := tx.PutCertificate(name, text); err != nil {
			return err
		}
		return read(tx)
	})
	return key, err
}

func newKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, hint.New("the key of the ACME account in the data file is damaged", "put back a backup")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, hint.With(fmt.Errorf("the key of the ACME account in the data file is damaged: %w", err), "put back a backup")
	}
	return key.(*ecdsa.PrivateKey), nil
}
