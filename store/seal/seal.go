// Package seal encrypts values with a key from a separate file. Without the key a
// sealed value can't be read, changed, or swapped with another.
//
// It is AES-256-GCM, and each value has a key of its own: HKDF-Expand derives it,
// with SHA-256, from the key in the file and a salt of 16 random bytes. A sealed
// value is the salt, the cipher's nonce of 12 random bytes, and the ciphertext,
// whose last 16 bytes are the tag. (The first half of HKDF, Extract, would only make
// a uniform key of one that is not. The file's key is 32 random bytes already.)
//
// Why not the file's key itself? Whoever sees two values sealed with the same key
// and the same nonce can undo both. Random nonces of 12 bytes are too short to rule
// that out for the life of a file: by the standard (NIST SP 800-38D) a key has to
// be replaced after 2³² values, and several servers that share a database can't
// count them together. With salt and nonce it takes two values that agree in 28
// random bytes. For that the odds are one in 2³², the standard's own bound, only
// after 2⁹⁶ values, so one key is enough for the life of a file, and nothing has to
// be counted or remembered.
//
// All of it is in Go's FIPS 140-3 module: HKDF, and GCM with a nonce that the module
// draws itself, which is the one way to seal that GODEBUG=fips140=only admits.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// saltSize is the length of a salt in bytes.
const saltSize = 16

// purpose separates the keys of values from any other that may once be derived from
// the same file. It ends with a zero byte; the salt follows.
const purpose = "teamdata/seal\x00"

// Key seals and opens. It is safe for concurrent use.
//
// A Key never prints its bytes, not even as a field of a printed struct. The
// zero Key can't seal.
type Key struct {
	// A function hides the bytes, so that fmt can't print them. It returns the
	// cipher of the values with a salt.
	cipher func(salt []byte) (cipher.AEAD, error)
}

// newKey takes KeySize bytes.
func newKey(key []byte) (*Key, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("a key of %d bytes", len(key))
	}
	k := &Key{cipher: func(salt []byte) (cipher.AEAD, error) { return valueCipher(key, salt) }}
	_, err := k.cipher(make([]byte, saltSize)) // so that Seal needs no error
	return k, err
}

func valueCipher(key, salt []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Expand(sha256.New, key, purpose+string(salt), KeySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal returns plain sealed for a place, as a new value 44 bytes longer. It opens
// only for the same place.
func (k *Key) Seal(plain, place []byte) []byte {
	var salt [saltSize]byte
	rand.Read(salt[:])
	aead, err := k.cipher(salt[:])
	if err != nil {
		panic(err) // newKey tried it: no salt makes a difference
	}
	sealed := make([]byte, saltSize, saltSize+len(plain)+aead.Overhead())
	copy(sealed, salt[:])
	return aead.Seal(sealed, nil, plain, place)
}

var errNotOpened = errors.New("the sealed value is damaged, or from another place, or sealed with another key")

// Open returns what was sealed for the place, as a new value. The error does not
// say why it can't be opened: the cipher doesn't know.
func (k *Key) Open(sealed, place []byte) ([]byte, error) {
	if len(sealed) < saltSize {
		return nil, errNotOpened
	}
	aead, err := k.cipher(sealed[:saltSize])
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, sealed[saltSize:], place)
	if err != nil {
		return nil, errNotOpened
	}
	return plain, nil
}

const redacted = "[seal key]"

// String hides the key.
func (Key) String() string { return redacted }

// Format hides the key from every verb of fmt, %#v and %x among them.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }
