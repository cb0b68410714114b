// Package signature signs webhooks as the Standard Webhooks specification has
// it, with the symmetric scheme v1: HMAC-SHA256 over id, timestamp and body,
// joined by periods. See https://www.standardwebhooks.com.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	prefix = "whsec_"

	// The specification's bounds for the bytes of a secret.
	minBytes, maxBytes = 24, 64
)

// encoding refuses stray bits after the last byte: receivers' libraries differ
// in whether they accept them.
var encoding = base64.StdEncoding.Strict()

// Secret is a parsed signing secret. It may be copied, and used by several
// goroutines at once. Parse a secret once and keep it: signing is then free of
// allocations.
//
// A Secret never prints its bytes, not even as a field of a printed struct.
// The zero Secret can't sign.
type Secret struct {
	// The key is held by the pool's New alone, where no printer reaches it.
	pool *sync.Pool // of *signer
}

// ParseSecret reads a secret: "whsec_" and the padded standard base64 of 24 to
// 64 bytes. The error says what is wrong and holds no part of s.
func ParseSecret(s string) (Secret, error) {
	text, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return Secret{}, errors.New(`webhook secret must start with "whsec_"`)
	}
	if len(text) > encoding.EncodedLen(maxBytes) {
		return Secret{}, fmt.Errorf("webhook secret is longer than %d bytes; use %d to %d", maxBytes, minBytes, maxBytes)
	}
	key, err := decode(text)
	if err != nil {
		return Secret{}, err
	}
	if len(key) < minBytes || len(key) > maxBytes {
		return Secret{}, fmt.Errorf("webhook secret has %d bytes; use %d to %d", len(key), minBytes, maxBytes)
	}
	return Secret{pool: &sync.Pool{New: func() any {
		return &signer{mac: hmac.New(sha256.New, key)}
	}}}, nil
}

func decode(text string) ([]byte, error) {
	key, err := encoding.DecodeString(text)
	// The decoder skips line breaks; a receiver's may not.
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New(`webhook secret is not padded standard base64 after "whsec_"`)
	}
	return key, nil
}

const redacted = "whsec_[redacted]"

// String hides the secret.
func (Secret) String() string { return redacted }

// GoString hides the secret.
func (Secret) GoString() string { return redacted }

// Format hides the secret from every verb of fmt, %x and %d among them.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }
