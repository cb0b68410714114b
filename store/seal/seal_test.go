package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

var keyBytes = []byte("0123456789abcdefghijklmnopqrstuv")

func testKey(t testing.TB) *Key {
	t.Helper()
	k, err := newKey(keyBytes)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSealAndOpen(t *testing.T) {
	k := testKey(t)
	for _, plain := range []string{"", "x", "whsec_c2VjcmV0", strings.Repeat("pem\n", 1000)} {
		for _, place := range []string{"", "certificates\x00ca"} {
			sealed := k.Seal([]byte(plain), []byte(place))
			if len(sealed) != len(plain)+44 {
				t.Errorf("%d bytes are sealed as %d", len(plain), len(sealed))
			}
			if plain != "" && bytes.Contains(sealed, []byte(plain)) && len(plain) > 1 {
				t.Errorf("%q shows in %q", plain, sealed)
			}
			opened, err := k.Open(sealed, []byte(place))
			if err != nil || string(opened) != plain {
				t.Errorf("%q opens as %q, %v", plain, opened, err)
			}
		}
	}
}

// TestOpenedByAnother opens a sealed value with nothing but HMAC and the cipher, as
// a script would that has the key.
func TestOpenedByAnother(t *testing.T) {
	sealed := testKey(t).Seal([]byte("plain"), []byte("place"))
	// HKDF-Expand of RFC 5869: its first block, which is all that is needed.
	h := hmac.New(sha256.New, keyBytes)
	fmt.Fprintf(h, "teamdata/seal\x00%s\x01", sealed[:16])
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := aead.Open(nil, nil, sealed[16:], []byte("place"))
	if err != nil || string(plain) != "plain" {
		t.Errorf("it opens as %q, %v", plain, err)
	}
}

// TestEachSealDiffers: neither a salt nor a nonce comes twice.
func TestEachSealDiffers(t *testing.T) {
	k := testKey(t)
	seen := map[string]bool{}
	for range 1000 {
		sealed := k.Seal([]byte("plain"), nil)
		for _, random := range []string{string(sealed[:16]), string(sealed[16:28])} {
			if seen[random] {
				t.Fatalf("%x is used twice", random)
			}
			seen[random] = true
		}
	}
}

// TestRefusesToOpen changes each bit, cuts at each byte, and tries another place
// and another key.
func TestRefusesToOpen(t *testing.T) {
	k := testKey(t)
	place := []byte("place")
	sealed := k.Seal([]byte("plain"), place)
	refused := func(what string, k *Key, sealed, place []byte) {
		t.Helper()
		plain, err := k.Open(sealed, place)
		if err == nil || plain != nil {
			t.Errorf("%s: opens as %q", what, plain)
		}
	}
	for bit := range len(sealed) * 8 {
		changed := bytes.Clone(sealed)
		changed[bit/8] ^= 1 << (bit % 8)
		refused(fmt.Sprint("bit ", bit), k, changed, place)
	}
	for end := range sealed {
		refused(fmt.Sprint("cut at ", end), k, sealed[:end], place)
	}
	refused("a byte too many", k, append(bytes.Clone(sealed), 0), place)
	refused("another place", k, sealed, []byte("place2"))
	refused("no place", k, sealed, nil)
	other, err := newKey(bytes.Repeat([]byte{7}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	refused("another key", other, sealed, place)
}

// TestOpenLeavesItsInput: what is opened may lie in memory that can't be written.
func TestOpenLeavesItsInput(t *testing.T) {
	k := testKey(t)
	sealed := k.Seal([]byte("plain"), nil)
	before := bytes.Clone(sealed)
	opened, err := k.Open(sealed, nil)
	if err != nil || !bytes.Equal(sealed, before) {
		t.Errorf("%v; the sealed value was %x and is %x", err, before, sealed)
	}
	clear(sealed)
	if string(opened) != "plain" {
		t.Error("a change of the sealed value changed what was opened")
	}
}

func TestKeyOfManyGoroutines(t *testing.T) {
	k := testKey(t)
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			place := []byte{byte(i)}
			for range 200 {
				if plain, err := k.Open(k.Seal(place, place), place); err != nil || !bytes.Equal(plain, place) {
					t.Errorf("%v opens as %v, %v", place, plain, err)
				}
			}
		})
	}
	done.Wait()
}

// TestKeyNeverPrints looks for the key in every form in which it could show.
func TestKeyNeverPrints(t *testing.T) {
	k := testKey(t)
	type holder struct {
		Sealer any
		Key    *Key
		key    *Key
		value  Key
	}
	var printed strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%t", "%p"} {
		for _, value := range []any{k, *k, holder{k, k, k, *k}, &holder{k, k, k, *k}, []*Key{k}, map[string]Key{"k": *k}} {
			fmt.Fprintf(&printed, verb+"\n", value)
		}
	}
	text, err := json.Marshal(holder{k, k, k, *k})
	fmt.Fprintf(&printed, "%s %v", text, err)
	for _, form := range []string{
		string(keyBytes), hex.EncodeToString(keyBytes), base64.StdEncoding.EncodeToString(keyBytes),
		strings.Trim(fmt.Sprint(keyBytes[:8]), "[]"), strings.Trim(fmt.Sprintf("%#v", keyBytes[:8]), "[]byte{}"),
	} {
		if strings.Contains(strings.ToLower(printed.String()), strings.ToLower(form)) {
			t.Errorf("%q is printed in\n%s", form, printed.String())
		}
	}
	if got := fmt.Sprint(k); got != redacted {
		t.Errorf("it prints as %s", got)
	}
}
