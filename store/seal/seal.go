// Package seal encrypts values with a key from a separate file. Without the key a
// sealed value can't be read, changed, or swapped with another.
//
// It is XChaCha20-Poly1305: a nonce of 24 random bytes, then the ciphertext,
// whose last 16 bytes are the tag. Random nonces of that length don't collide, so
// one key is enough for the life of a file.
package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// Key seals and opens. It is safe for concurrent use.
//
// A Key never prints its bytes, not even as a field of a printed struct. The
// zero Key can't seal.
type Key struct {
	// A function hides the cipher, so that fmt can't print it.
	cipher func() cipher.AEAD
}

// newKey takes KeySize bytes.
func newKey(key []byte) (*Key, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	return &Key{cipher: func() cipher.AEAD { return aead }}, nil
}

// Seal returns plain sealed for a place, as a new value 40 bytes longer. It opens
// only for the same place.
func (k *Key) Seal(plain, place []byte) []byte {
	aead := k.cipher()
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	rand.Read(nonce)
	return aead.Seal(nonce, nonce, plain, place)
}

var errNotOpened = errors.New("the sealed value is damaged, or from another place, or sealed with another key")

// Open returns what was sealed for the place, as a new value. The error does not
// say why it can't be opened: the cipher doesn't know.
func (k *Key) Open(sealed, place []byte) ([]byte, error) {
	aead := k.cipher()
	if len(sealed) < aead.NonceSize() {
		return nil, errNotOpened
	}
	nonce, sealed := sealed[:aead.NonceSize()], sealed[aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, sealed, place)
	if err != nil {
		return nil, errNotOpened
	}
	return plain, nil
}

const redacted = "[seal key]"

// String hides the key.
func (Key) String() string { return redacted }

// GoString hides the key.
func (Key) GoString() string { return redacted }

// Format hides the key from every verb of fmt, %x and %d among them.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }
