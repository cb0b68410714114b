package signature

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type vector struct {
	Name, Secret, ID, Timestamp, Body, Signature string
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("../../testdata/vectors/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func parse(t testing.TB, text string) Secret {
	t.Helper()
	secret, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// verify asks the reference library whether a receiver would accept.
func verify(t testing.TB, secret, id string, timestamp int64, body []byte, header string) error {
	t.Helper()
	receiver, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return receiver.VerifyIgnoringTimestamp(body, http.Header{
		"Webhook-Id":        {id},
		"Webhook-Timestamp": {strconv.FormatInt(timestamp, 10)},
		"Webhook-Signature": {header},
	})
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			timestamp, err := strconv.ParseInt(v.Timestamp, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got := string(Sign(nil, v.ID, timestamp, []byte(v.Body), parse(t, v.Secret)))
			if got != v.Signature {
				t.Errorf("Sign = %q, want %q", got, v.Signature)
			}
			if err := verify(t, v.Secret, v.ID, timestamp, []byte(v.Body), got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRotationSignsWithBoth(t *testing.T) {
	old, next, other := newSecret(), newSecret(), newSecret()
	body := []byte(`{"type":"webhook.test"}`)
	header := string(Sign([]byte("kept:"), "whd_1", 1790000000, body, parse(t, old), parse(t, next)))
	header, ok := strings.CutPrefix(header, "kept:")
	if !ok || strings.Count(header, " ") != 1 || len(header) != 2*len("v1,")+2*44+1 {
		t.Fatalf("header is %q, want two signatures and one space", header)
	}
	for _, secret := range []string{old, next} {
		if err := verify(t, secret, "whd_1", 1790000000, body, header); err != nil {
			t.Error(err)
		}
	}
	if verify(t, other, "whd_1", 1790000000, body, header) == nil {
		t.Error("accepted with a secret that did not sign")
	}
}

func TestNoSecretsSignNothing(t *testing.T) {
	if got := Sign([]byte("x"), "whd_1", 1, nil); string(got) != "x" {
		t.Fatalf("Sign = %q, want dst as it was", got)
	}
}

func TestParseSecret(t *testing.T) {
	sized := func(n int) string {
		return prefix + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xfb}, n))
	}
	good := sized(25)
	for _, tt := range []struct{ name, text, want string }{
		{"24 bytes", sized(24), ""},
		{"25 bytes", good, ""},
		{"64 bytes", sized(64), ""},
		{"23 bytes", sized(23), "has 23 bytes; use 24 to 64"},
		{"65 bytes", sized(65), "has 65 bytes; use 24 to 64"},
		{"66 bytes", sized(66), "has 66 bytes; use 24 to 64"},
		{"67 bytes", sized(67), "longer than 64 bytes"},
		{"a megabyte", sized(1 << 20), "longer than 64 bytes"},
		{"empty", "", `must start with "whsec_"`},
		{"no prefix", good[len(prefix):], `must start with "whsec_"`},
		{"prefix in capitals", "WHSEC_" + good[len(prefix):], `must start with "whsec_"`},
		{"space before", " " + good, `must start with "whsec_"`},
		{"prefix alone", prefix, "has 0 bytes"},
		{"no padding", strings.TrimRight(good, "="), "not padded standard base64"},
		{"URL alphabet", strings.ReplaceAll(good, "+", "-"), "not padded standard base64"},
		{"line break", good[:20] + "\n" + good[20:], "not padded standard base64"},
		{"line break at the end", good + "\r\n", "not padded standard base64"},
		{"space at the end", good + " ", "not padded standard base64"},
		{"stray bits", good[:len(good)-3] + "/==", "not padded standard base64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseSecret(tt.text)
			checkError(t, err, tt.want)
			if err != nil && len(tt.text) > 20 && strings.Contains(err.Error(), tt.text[10:16]) {
				t.Errorf("error %q holds the secret", err)
			}
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want an error with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("error %q, want %q in it", err, want)
	}
}

func TestNewSecret(t *testing.T) {
	one, two := newSecret(), newSecret()
	if one == two || len(one) != len(prefix)+44 {
		t.Fatalf("lengths %d and %d, equal: %v", len(one), len(two), one == two)
	}
	parse(t, one)
}

func TestSecretDoesNotPrint(t *testing.T) {
	key := []byte("GHIJKLMNOPQRSTUVWXYZ0123456789ab") // begins with letters that no address has
	secret := parse(t, prefix+base64.StdEncoding.EncodeToString(key))
	nested := struct{ hidden Secret }{secret}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%p"} {
		fmt.Fprintf(&out, verb+"\n", secret)
		fmt.Fprintf(&out, verb+"\n", &secret)
		fmt.Fprintf(&out, verb+"\n", []Secret{secret})
		fmt.Fprintf(&out, verb+"\n", nested)
	}
	fmt.Fprintln(&out, secret)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("", "secret", secret, "nested", nested)
	for _, part := range []string{"GHI", "R0hJ", "4748494a4b4c4d", "4748494A4B4C4D", "71 72 73", "0x47, 0x48"} {
		if strings.Contains(out.String(), part) {
			t.Errorf("printed %q:\n%s", part, out.String())
		}
	}
}

func newSecret() string {
	var key [32]byte
	_, _ = rand.Read(key[:])
	return prefix + encoding.EncodeToString(key[:])
}

func BenchmarkSign(b *testing.B) {
	secret := parse(b, newSecret())
	for _, size := range []int{200, 64 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			body, dst := make([]byte, size), make([]byte, 0, 64)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Sign(dst, "whd_01K60865992206906030338374", 1790000000, body, secret)
			}
		})
	}
}

func BenchmarkParseAndSign(b *testing.B) {
	text, body := newSecret(), make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		Sign(nil, "whd_01K60865992206906030338374", 1790000000, body, parse(b, text))
	}
}
