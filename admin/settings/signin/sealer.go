package signin

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
)

// sealer seals what a browser keeps for the server for some minutes, so that the
// server needs no memory for it. The key is one that all nodes share: once all have
// stopped, nothing of before can be opened.
type sealer struct {
	key func(context.Context) ([]byte, error)
}

func (s sealer) aead(ctx context.Context) (cipher.AEAD, error) {
	key, err := s.key(ctx)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal returns a value as a text that a page carries for the server. It can be opened for
// the same purpose only.
func (r *Request) Seal(purpose string, value any) (string, error) {
	return r.s.ceremonies.sealer.seal(r.HTTP.Context(), purpose, value)
}

// Open reads a value that Seal returned; false when it is none, or is for another purpose.
func (r *Request) Open(purpose, sealed string, value any) bool {
	return r.s.ceremonies.sealer.open(r.HTTP.Context(), purpose, sealed, value)
}

// seal returns a value as a text for a cookie. It can be opened for the same purpose
// only.
func (s sealer) seal(ctx context.Context, purpose string, value any) (string, error) {
	aead, err := s.aead(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, text, []byte(purpose))), err
}

// open reads a value; false when the text was not sealed by a node that runs, for the
// purpose, or the key can't be had.
func (s sealer) open(ctx context.Context, purpose, sealed string, value any) bool {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return false
	}
	aead, err := s.aead(ctx)
	if err != nil {
		return false
	}
	if text, err = aead.Open(nil, nil, text, []byte(purpose)); err != nil {
		return false
	}
	return json.Unmarshal(text, value) == nil
}
