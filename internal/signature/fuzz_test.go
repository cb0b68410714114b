package signature

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func FuzzParseSecret(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Secret)
	}
	f.Fuzz(func(t *testing.T, text string) {
		secret, err := ParseSecret(text)
		key, ok := strings.CutPrefix(text, "whsec_")
		raw, bad := base64.StdEncoding.DecodeString(key)
		exact := ok && bad == nil && base64.StdEncoding.EncodeToString(raw) == key
		if want := exact && len(raw) >= 24 && len(raw) <= 64; want != (err == nil) {
			t.Fatalf("ParseSecret(%q) = %v, want accepted: %v", text, err, want)
		}
		if err == nil {
			agree(t, text, secret, "whd_1", 1, []byte("{}"))
		}
	})
}

func FuzzSign(f *testing.F) {
	f.Fuzz(func(t *testing.T, key []byte, id string, timestamp int64, body []byte) {
		text := prefix + base64.StdEncoding.EncodeToString(key)
		if secret, err := ParseSecret(text); err == nil {
			agree(t, text, secret, id, timestamp, body)
		}
	})
}

// agree compares with the reference library, twice because the second signature
// comes from reused state.
func agree(t *testing.T, text string, secret Secret, id string, timestamp int64, body []byte) {
	t.Helper()
	reference, err := standardwebhooks.NewWebhook(text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference.Sign(id, time.Unix(timestamp, 0), body)
	if err != nil {
		t.Fatal(err)
	}
	both := string(Sign(nil, id, timestamp, body, secret, secret))
	if both != want+" "+want {
		t.Fatalf("Sign = %q, want %q twice", both, want)
	}
}
