package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"testing"
)

// Beside their baseline: what the cipher itself takes for a value as long as an
// endpoint's secret, its key and its memory given.
func BenchmarkKey(b *testing.B) {
	k := testKey(b)
	plain, place := make([]byte, 50), []byte("endpoints\x00org_0123456789\x00whe_0123456789\x00secret")
	sealed := k.Seal(plain, place)
	b.Run("baseline", func(b *testing.B) {
		block, err := aes.NewCipher(keyBytes)
		if err != nil {
			b.Fatal(err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			b.Fatal(err)
		}
		buf := make([]byte, 0, 64)
		value := aead.Seal(nil, nil, plain, place)
		for b.Loop() {
			if _, err := aead.Open(buf, nil, value, place); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := k.Open(sealed, place); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.Seal(plain, place)
		}
	})
}
