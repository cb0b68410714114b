package boltstore

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/rows"
	"teamdata/store/seal"
)

// TestFormatOfSealedValues opens sealed values as docs/format.md describes them,
// with nothing but the key, HMAC and the cipher.
func TestFormatOfSealedValues(t *testing.T) {
	f := newFixture(t, sealed(t))
	f.addSecrets()
	opens := func(kept []byte, place, want string) {
		t.Helper()
		plain, err := cipherOf(t, kept[:16]).Open(nil, nil, kept[16:], []byte(place))
		if err != nil || string(plain) != want {
			t.Errorf("%q holds %q, %v", place, plain, err)
		}
	}
	must(t, f.db.View(func(bolt *bbolt.Tx) error {
		opens(bolt.Bucket(bucketMeta).Get([]byte("seal")), "meta\x00seal", "teamdata")
		opens(bolt.Bucket([]byte("certificates")).Get([]byte("ca")), "certificates\x00ca", secrets[3])
		e := recordIn[store.Endpoint](t, bolt, "endpoints", "org_test\x00whe_a")
		opens([]byte(e.Secret), "endpoints\x00org_test\x00whe_a\x00secret", secrets[2])
		opens([]byte(e.OldSecret), "endpoints\x00org_test\x00whe_a\x00oldSecret", secrets[0])
		a := recordIn[store.Account](t, bolt, "accounts", "usr_ada")
		opens([]byte(a.PasswordHash), "accounts\x00usr_ada\x00passwordHash", secrets[4])
		return nil
	}))
}

// cipherOf is the cipher of the values with a salt; before a value it expects the
// nonce.
func cipherOf(t *testing.T, salt []byte) cipher.AEAD {
	t.Helper()
	key := hmac.New(sha256.New, bytes.Repeat([]byte{0x4f}, seal.KeySize))
	fmt.Fprintf(key, "teamdata/seal\x00%s\x01", salt)
	block, err := aes.NewCipher(key.Sum(nil))
	must(t, err)
	aead, err := cipher.NewGCMWithRandomNonce(block)
	must(t, err)
	return aead
}

// TestFormatOfSealedExample opens the example in docs/format.md.
func TestFormatOfSealedExample(t *testing.T) {
	text, _ := formatDoc(t)
	example := regexp.MustCompile("```\\n([0-9a-f]{104})\\n```").FindStringSubmatch(text)
	if example == nil {
		t.Fatal("docs/format.md has no example of a sealed value")
	}
	var key [seal.KeySize]byte
	for i := range key {
		key[i] = byte(i)
	}
	path := filepath.Join(t.TempDir(), "seal.key")
	writeFile(t, path, []byte(hex.EncodeToString(key[:])))
	k, err := seal.ReadKeyFile(path)
	must(t, err)
	value, err := hex.DecodeString(example[1])
	must(t, err)
	if plain, err := k.Open(value, []byte("meta\x00seal")); err != nil || string(plain) != "teamdata" {
		t.Errorf("the example opens as %q, %v", plain, err)
	}
}

// TestFormatNamesTheSealed: the table of sealed values has a row for each kind with secrets.
func TestFormatNamesTheSealed(t *testing.T) {
	text, _ := formatDoc(t)
	for _, k := range rows.Kinds() {
		if row := "| `" + k.Name + "`, 0, "; (k.Seal != nil) != strings.Contains(text, row) {
			t.Errorf("docs/format.md: has secrets: %v; %q is in a table: %v", k.Seal != nil, row, k.Seal == nil)
		}
	}
}
