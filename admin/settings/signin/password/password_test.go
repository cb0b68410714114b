package password

import (
	"context"
	"crypto/fips140"
	"errors"
	"fmt"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

const text = "correct horse battery staple"

// cheap keeps the tests fast.
var cheap = Cost{Memory: 64, Passes: 1, Threads: 1}

func TestHashAndVerify(t *testing.T) {
	for scheme, form := range map[Scheme]string{
		Default: "$argon2id$v=19$m=19456,t=2,p=1$", Approved: "$pbkdf2-sha256$i=600000$",
	} {
		t.Run(form, func(t *testing.T) { testHashAndVerify(t, New(scheme), form) })
	}
}

func testHashAndVerify(t *testing.T, h *Hasher, form string) {
	hash, err := h.Hash(t.Context(), text)
	kit.Must(t, err)
	if !strings.HasPrefix(hash, form) || strings.Contains(hash, text) {
		t.Errorf("the hash is %s", hash)
	}
	if again, _ := h.Hash(t.Context(), text); again == hash {
		t.Error("two hashes have the same salt")
	}
	for password, want := range map[string]bool{text: true, text + " ": false, "": false, strings.ToUpper(text): false} {
		if ok, outdated, err := h.Verify(t.Context(), hash, password); ok != want || outdated || err != nil {
			t.Errorf("%q: %v, %v, %v", password, ok, outdated, err)
		}
	}
}

// A password is the same however its letters are composed. The hash of one that was made
// of what was typed is good once more.
func TestComposed(t *testing.T) {
	const composed, decomposed = "pässword für Zoé", "pa\u0308ssword\u00a0fu\u0308r Zoe\u0301"
	h := New(cheap)
	salt := []byte("0123456789abcdef")
	for _, test := range []struct {
		hashed, typed string
		asTyped       bool // the hash is older than Prepare
		ok, outdated  bool
	}{
		{composed, decomposed, false, true, false}, {decomposed, composed, false, true, false}, {decomposed, decomposed, false, true, false},
		{composed, decomposed, true, true, false}, {decomposed, decomposed, true, true, true}, {decomposed, composed, true, false, false},
		{composed, "password für Zoé", false, false, false}, {composed, "ｐässword für Zoé", false, false, false},
		{"family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469", false, true, false}, // not of RFC 8265
		{"a\xffbcdefghijkl", "a\ufffdbcdefghijkl", false, false, false},
	} {
		hash := cheap.format(salt, cheap.key(test.hashed, salt, keyBytes))
		if !test.asTyped {
			var err error
			hash, err = h.Hash(t.Context(), test.hashed)
			kit.Must(t, err)
		}
		ok, outdated, err := h.Verify(t.Context(), hash, test.typed)
		if ok != test.ok || outdated != test.outdated || err != nil {
			t.Errorf("%+v: %v, %v, %v", test, ok, outdated, err)
		}
	}
}

// No password is that of an account without one, and it costs a hash to say so.
func TestVerifyWithoutHash(t *testing.T) {
	for _, password := range []string{"", text} {
		if ok, _, err := New(cheap).Verify(t.Context(), "", password); ok || err != nil {
			t.Errorf("%q: %v, %v", password, ok, err)
		}
	}
	h := New(cheap)
	fill(h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := h.Verify(ctx, "", text); !errors.Is(err, context.Canceled) {
		t.Errorf("it did not wait for its turn: %v", err)
	}
}

func TestOutdated(t *testing.T) {
	salt := []byte("0123456789abcdef")
	for _, p := range []Scheme{Default, Cost{64, 2, 1}, Cost{128, 1, 1}, Cost{64, 1, 2}, Iterations(64)} {
		ok, outdated, err := New(cheap).Verify(t.Context(), p.format(salt, p.key(text, salt, keyBytes)), text)
		if !ok || !outdated || err != nil {
			t.Errorf("%+v: %v, %v, %v", p, ok, outdated, err)
		}
	}
}

// TestOutdatedIterations: the other way round, when FIPS 140-3 is asked for no more.
func TestOutdatedIterations(t *testing.T) {
	salt := []byte("0123456789abcdef")
	for _, p := range []Scheme{cheap, Iterations(63)} {
		ok, outdated, err := New(Iterations(64)).Verify(t.Context(), p.format(salt, p.key(text, salt, keyBytes)), text)
		if !ok || !outdated || err != nil {
			t.Errorf("%+v: %v, %v, %v", p, ok, outdated, err)
		}
	}
}

// New hashes are what FIPS 140-3 allows where it is on.
func TestBest(t *testing.T) {
	if !fips140.Enabled() && Best() != Scheme(Default) {
		t.Errorf("it is %#v", Best())
	}
	if kit.EnforcesFIPS(t) && Best() != Scheme(Approved) {
		t.Errorf("with FIPS 140-3 it is %#v", Best())
	}
}

// The reference implementation's own tests have this one.
func TestKnownHash(t *testing.T) {
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if ok, outdated, err := New(cheap).Verify(t.Context(), hash, "password"); !ok || !outdated || err != nil {
		t.Errorf("%v, %v, %v", ok, outdated, err)
	}
}

// RFC 7914 has this one, for scrypt's use of PBKDF2: its first half is compared.
func TestKnownIterations(t *testing.T) {
	const want = "55ac046e56e3089fec1691c22544b605"
	var got []byte
	fips140.WithoutEnforcement(func() { got = Iterations(1).key("passwd", []byte("salt"), 16) })
	if fmt.Sprintf("%x", got) != want {
		t.Errorf("%x", got)
	}
}

func TestMalformed(t *testing.T) {
	good, err := New(Default).Hash(t.Context(), text)
	kit.Must(t, err)
	approved := Approved.format(random(saltBytes), random(keyBytes))
	for _, hash := range []string{
		"x", "$", "$$$$$", good + "$", good[1:], strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "m=19456", "m=4194304", 1), strings.Replace(good, "m=19456", "m=0", 1), strings.Replace(good, "t=2", "t=99", 1),
		strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "p=1", "p=300", 1),
		strings.Replace(good, "p=1", "p=1,x=2", 1), strings.Replace(good, "m=19456", "m=019456", 1), good[:len(good)-4], good + "=",
		"$argon2id$v=19$m=19456,t=2,p=1$$", "$pbkdf2-sha256$i=600000$$",
		approved + "$", approved[1:], approved[:len(approved)-4], approved + "=", strings.Replace(approved, "sha256", "sha1", 1),
		strings.Replace(approved, "i=600", "i=0600", 1), strings.Replace(approved, "i=600", "i=600600", 1),
		strings.Replace(approved, "i=600000", "i=0", 1), strings.Replace(approved, "i=600000", "i=-1", 1),
	} {
		ok, _, err := New(cheap).Verify(t.Context(), hash, text)
		if ok || !errors.Is(err, errForm) {
			t.Errorf("%s: %v, %v", hash, ok, err)
		}
	}
}

// Who comes while as many hashes are made as may be waits, as long as its context
// lasts.
func TestWaitsForItsTurn(t *testing.T) {
	h := New(cheap)
	fill(h)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := h.Hash(ctx, text)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	gone := fmt.Errorf("the browser has gone")
	cancel(gone)
	if err := <-ended; !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	h.done()
	if _, err := h.Hash(t.Context(), text); err != nil {
		t.Error(err)
	}
}

// fill takes all slots.
func fill(h *Hasher) {
	for range atOnce {
		h.slots <- struct{}{}
	}
}
