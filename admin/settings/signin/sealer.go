package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
)

// Seal returns a value as a text that a browser keeps for the server for some minutes, so
// that the server needs no memory for it. It can be opened for the same purpose only. The
// key is shared by all nodes: once all have stopped, no earlier text can be opened.
func (r *Request) Seal(purpose string, value any) (string, error) {
	aead, err := r.aead()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, text, []byte(purpose))), err
}

// Open reads a value that Seal returned; false when the text was not sealed by a node that
// runs, for the purpose, or the key can't be had.
func (r *Request) Open(purpose, sealed string, value any) bool {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return false
	}
	aead, err := r.aead()
	if err != nil {
		return false
	}
	if text, err = aead.Open(nil, nil, text, []byte(purpose)); err != nil {
		return false
	}
	return json.Unmarshal(text, value) == nil
}

func (r *Request) aead() (cipher.AEAD, error) {
	key, err := r.s.store.SharedKey(r.HTTP.Context())
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
