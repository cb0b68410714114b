package settings

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
)

// sealer seals what a browser keeps for the server for some minutes, so that the
// server needs no memory for it. Its key is that of this process: after a restart
// nothing of before can be opened.
type sealer struct{ aead cipher.AEAD }

func newSealer() sealer {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // the block has the right size
	}
	return sealer{aead}
}

// seal returns a value as a text for a cookie. It can be opened for the same purpose
// only.
func (s sealer) seal(purpose string, value any) (string, error) {
	text, err := json.Marshal(value)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(purpose))), err
}

// open reads a value; false when the text was not sealed by this process for the
// purpose.
func (s sealer) open(purpose, sealed string, value any) bool {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return false
	}
	if text, err = s.aead.Open(nil, nil, text, []byte(purpose)); err != nil {
		return false
	}
	return json.Unmarshal(text, value) == nil
}
