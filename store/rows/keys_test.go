package rows

import (
	"bytes"
	"testing"
)

// TestBounds: what is within bounds, and what is not, up to the edges.
func TestBounds(t *testing.T) {
	for _, test := range []struct {
		name    string
		bounds  Bounds
		in, out []string
	}{
		{"below", Below("o", ""), []string{"o\x00", "o\x00a", "o\x00\xff\xff"}, []string{"o", "o\x01", "o-\x00a", "oo\x00a", "n\x00a", ""}},
		{"below, after one", Below("o", "b"), []string{"o\x00b\x00", "o\x00ba", "o\x00c"}, []string{"o\x00b", "o\x00a", "o\x01", "p\x00c"}},
		{"below nothing", Below("", ""), []string{"\x00", "\x00a"}, []string{"", "\x01", "a"}},
		{"after", After("b"), []string{"b\x00", "ba", "c", "\xff"}, []string{"b", "a", ""}},
		{"after nothing", After(""), []string{"", "a", "\xff\xff"}, nil},
		{"within", Within([]byte("ab")), []string{"ab", "ab\x00", "ab\xff\xff"}, []string{"aa\xff", "ac", "a", "b"}},
		{"within a last byte", Within([]byte("a\xff")), []string{"a\xff", "a\xff\xff"}, []string{"a", "a\xfe", "b"}},
		{"within the last bytes", Within([]byte("\xff\xff")), []string{"\xff\xff", "\xff\xff\xff"}, []string{"\xff", "\xff\xfe\xff", ""}},
	} {
		within := func(key string) bool {
			b := test.bounds
			return bytes.Compare([]byte(key), b.From) >= 0 && (b.To == nil || bytes.Compare([]byte(key), b.To) < 0)
		}
		for _, key := range test.in {
			if !within(key) {
				t.Errorf("%s: %q is not within %q", test.name, key, test.bounds)
			}
		}
		for _, key := range test.out {
			if within(key) {
				t.Errorf("%s: %q is within %q", test.name, key, test.bounds)
			}
		}
	}
	if End(nil) != nil || End([]byte{0xff}) != nil || End([]byte{}) != nil {
		t.Error("there is something behind all keys")
	}
}

// TestBoundsShareNothing: to append to one bound leaves the other as it was, and End its
// prefix.
func TestBoundsShareNothing(t *testing.T) {
	b := Below("org", "id")
	to := bytes.Clone(b.To)
	if _ = append(b.From, 'x'); !bytes.Equal(b.To, to) {
		t.Errorf("the end has become %q", b.To)
	}
	prefix := []byte("a\xff")
	if End(prefix); string(prefix) != "a\xff" {
		t.Errorf("the prefix has become %q", prefix)
	}
}

func TestPartsOfKeys(t *testing.T) {
	key := Pair(Number(nil, 1<<40), "o", "id")
	if n := ReadNumber(key); n != 1<<40 {
		t.Errorf("the number is read as %d", n)
	}
	if n := ReadNumber(key[:7]); n != 0 {
		t.Errorf("of seven bytes it is %d", n)
	}
	for key, want := range map[string]string{"o\x00id": ">id", "o\x00i\x00d": ">i\x00d", "o\x00": ">", "o": ">"} {
		if got := Behind([]byte(">"), []byte(key), nil); string(got) != want {
			t.Errorf("behind the first part of %q comes %q", key, got)
		}
	}
	if bytes.Compare(Number(nil, 255), Number(nil, 256)) >= 0 {
		t.Error("numbers are not in order")
	}
}
