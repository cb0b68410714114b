// Package signature signs webhooks as the Standard Webhooks specification has
// it, with the symmetric scheme v1: HMAC-SHA256 over id, timestamp and body,
// joined by periods. See https://www.standardwebhooks.com.
//
// It imports hint alone. Which secrets an endpoint has, and for how long, is a
// rule of the store; only their form and the signature belong here.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"sync"

	"teamdata/internal/hint"
)

const (
	prefix = "whsec_"

	// The specification's bounds for the bytes of a secret.
	minBytes, maxBytes = 24, 64
)

var useBytes = fmt.Sprintf("use %d to %d", minBytes, maxBytes)

// encoding rejects stray bits after the last byte, since receivers' libraries differ in
// whether they accept them.
var encoding = base64.StdEncoding.Strict()

// Secret is a parsed signing secret. It may be copied, and used by several
// goroutines at once. Parse a secret once and keep it: signing is then free of
// allocations.
//
// A Secret never prints its bytes, not even as a field of a printed struct.
// The zero Secret can't sign.
type Secret struct {
	// Only the pool's New holds the key, so that printing never shows it.
	pool *sync.Pool // of *signer
}

// ParseSecret reads a secret: "whsec_" and the padded standard base64 of 24 to
// 64 bytes. The error says what is wrong and contains no part of s.
func ParseSecret(s string) (Secret, error) {
	text, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return Secret{}, errors.New(`webhook secret must start with "whsec_"`)
	}
	if len(text) > encoding.EncodedLen(maxBytes) {
		return Secret{}, hint.New(fmt.Sprintf("webhook secret is longer than %d bytes", maxBytes), useBytes)
	}
	key, err := decode(text)
	if err != nil {
		return Secret{}, err
	}
	if len(key) < minBytes || len(key) > maxBytes {
		return Secret{}, hint.New(fmt.Sprintf("webhook secret has %d bytes", len(key)), useBytes)
	}
	return Secret{pool: &sync.Pool{New: func() any {
		return &signer{mac: hmac.New(sha256.New, key)}
	}}}, nil
}

// ParseSecrets reads secrets, and leaves out empty ones.
func ParseSecrets(texts ...string) (secrets []Secret, err error) {
	for _, text := range texts {
		if text == "" {
			continue
		}
		secret, err := ParseSecret(text)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

func decode(text string) ([]byte, error) {
	key, err := encoding.DecodeString(text)
	// The decoder skips line breaks; a receiver's may not.
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New(`webhook secret is not padded standard base64 after "whsec_"`)
	}
	return key, nil
}

// Format hides the secret from every verb of fmt, %x and %d among them.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "whsec_[redacted]") }

// signer is the state for one signature at a time.
type signer struct {
	mac     hash.Hash
	scratch []byte
}

// Sign appends the value of the webhook-signature header to dst: for each
// secret "v1," and the base64 of its signature, with one space between, as
// receivers split it. Two secrets are for the time of a rotation.
//
// The id is the webhook-id header and must hold no period, which would let two
// messages share a signature. The timestamp is the webhook-timestamp header,
// in seconds since 1970. The body is signed as the bytes that are sent.
//
// Without secrets dst is returned unchanged. A zero Secret panics.
func Sign(dst []byte, id string, timestamp int64, body []byte, secrets ...Secret) []byte {
	for i, secret := range secrets {
		if i > 0 {
			dst = append(dst, ' ')
		}
		s := secret.pool.Get().(*signer)
		dst = append(dst, "v1,"...)
		dst = encoding.AppendEncode(dst, s.sum(id, timestamp, body))
		secret.pool.Put(s)
	}
	return dst
}

// sum's result is valid until the next sum.
func (s *signer) sum(id string, timestamp int64, body []byte) []byte {
	head := append(s.scratch[:0], id...)
	head = append(head, '.')
	head = strconv.AppendInt(head, timestamp, 10)
	head = append(head, '.')
	s.mac.Reset()
	s.mac.Write(head)
	s.mac.Write(body)
	s.scratch = s.mac.Sum(head[:0])
	return s.scratch
}
