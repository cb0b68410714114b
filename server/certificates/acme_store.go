package certificates

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/acme/autocert"

	"teamdata/internal/hint"
	"teamdata/store"
)

// load serves the certificate in the store, expired or not, unless there is none or
// the one served is newer: that could not be stored.
func (d *domain) load(ctx context.Context) error {
	for _, y := range d.acme.authorities {
		if err := d.loadFrom(ctx, y); err != nil {
			return err
		}
	}
	return nil
}

// loadFrom goes by when a certificate was issued: authorities give different lifetimes,
// and one that was revoked may end later than what replaced it. That is in whole seconds: of two
// in the same one, the store has the later.
func (d *domain) loadFrom(ctx context.Context, y *authority) error {
	var text []byte
	err := d.acme.store.View(ctx, func(tx store.Tx) error {
		kept, err := tx.Certificate(y.storeName(d.name))
		text = bytes.Clone(kept)
		return err
	})
	if err != nil {
		return unlessNotFound(err)
	}
	c, err := d.parseCertificate(text)
	if err != nil {
		d.log.Error().Err(err).Msg("the certificate in the data file is damaged, and another is requested")
		return nil
	}
	served, _ := d.state()
	if served == nil || !c.Leaf.Equal(served.Leaf) && !c.Leaf.NotBefore.Before(served.Leaf.NotBefore) {
		d.serve(c, y)
	}
	return nil
}

// parseCertificate reads a certificate for the name and its key. It may be expired:
// clients see that for themselves.
func (d *domain) parseCertificate(text []byte) (*tls.Certificate, error) {
	c, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, err
	}
	return &c, c.Leaf.VerifyHostname(d.name)
}

// keep stores a new certificate of an authority, and serves it, stored or not.
func (d *domain) keep(ctx context.Context, y *authority, text []byte) error {
	c, err := d.parseCertificate(text)
	if err != nil {
		return fmt.Errorf("the authority's new certificate can't be used: %w", err)
	}
	err = d.acme.store.Update(ctx, store.All, func(tx store.Tx) error { return tx.PutCertificate(y.storeName(d.name), text) })
	d.serve(c, y)
	d.reset()
	d.log.Info().Str("authority", y.directory).Msg("the authority issued a new certificate")
	if err != nil {
		d.record(hint.With(err, "a restart will request another one"), "the new certificate is used, but can't be stored")
	}
	return nil
}

// challengeBlock is the PEM type of an answer to a challenge, whose name is in a header.
const challengeBlock = "ACME CHALLENGE"

// challengeName is of the first authority, whichever asks: a node that answers can't know.
func (d *domain) challengeName() string {
	return d.acme.authorities[0].storeName(d.name + " challenge")
}

// keepChallenge stores the answer to a challenge, for all nodes. There is one at a time.
func (d *domain) keepChallenge(ctx context.Context, key string, answer []byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: challengeBlock, Headers: map[string]string{"Key": key}, Bytes: answer})
	return d.acme.store.Update(ctx, store.All, func(tx store.Tx) error { return tx.PutCertificate(d.challengeName(), text) })
}

// challengeKept is the answer to a challenge, which another node may have got.
func (d *domain) challengeKept(ctx context.Context, key string) (answer []byte, err error) {
	err = d.acme.store.View(ctx, func(tx store.Tx) error {
		text, err := tx.Certificate(d.challengeName())
		if err != nil {
			return err
		}
		if block, _ := pem.Decode(text); block != nil && block.Headers["Key"] == key {
			answer = block.Bytes
		}
		return nil
	})
	if answer == nil {
		return nil, autocert.ErrCacheMiss // whatever the reason: this is said to strangers
	}
	return answer, err
}

// accountKey is the key of our account with the authority. It is made when the
// store has none, and has got none meanwhile from another server.
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
	err = s.Update(ctx, store.All, func(tx store.Tx) error {
		err := read(tx)
		if store.IsNotFound(err) {
			if err = tx.PutCertificate(name, text); err == nil {
				err = read(tx)
			}
		}
		return err
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
		return nil, hint.New("the key of the ACME account in the data file is damaged", "restore a backup")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, hint.With(fmt.Errorf("the key of the ACME account in the data file is damaged: %w", err), "restore a backup")
	}
	return key.(*ecdsa.PrivateKey), nil
}
