package receiver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/internal/signature"
)

// FuzzParseSecrets checks that the secrets that may verify are those that may sign.
func FuzzParseSecrets(f *testing.F) {
	f.Add(secret + "\n" + old)
	f.Add("\r\n " + secret + "\t\n")
	f.Add("whsec_")
	f.Add("whsec_" + strings.Repeat("A", 31) + "=")
	f.Add(strings.Repeat("A", 32))
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Fields(text)
		want := len(words) > 0
		for _, word := range words {
			_, err := signature.ParseSecret(word)
			want = want && err == nil
		}
		secrets, err := ParseSecrets(text)
		if (err == nil) != want || err == nil && len(secrets) != len(words) {
			t.Fatalf("%q: %d secrets, %v", text, len(secrets), err)
		}
	})
}

// An error contains no part of the secret.
func TestBadSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "contains no secret",
		" \n":                     "contains no secret",
		secret + "\nwhsec_s3cret": "secret 2 is not whsec_",
		"s3cret" + secret[6:]:     "secret 1 is not whsec_",
		"whsec_":                  "secret 1 is not whsec_",
	} {
		_, err := ParseSecrets(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A printed Config shows none of the key's bytes, which are 49, 242, 144 and so
// on.
func TestSecretsDoNotPrint(t *testing.T) {
	c := Config{Secrets: parsed(t, secret)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%s"} {
		text := fmt.Sprintf(verb, c)
		if strings.Contains(text, "49 242") || strings.Contains(text, "31f290") || strings.Contains(text, "0x31, 0xf2") {
			t.Errorf("%s printed %s", verb, text)
		}
	}
}

// With a clock of its own, a receiver takes what that clock has as the present.
func TestVerifyByAnotherClock(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for off, want := range map[time.Duration]string{
		0: "", 5 * time.Minute: "", -5 * time.Minute: "",
		5*time.Minute + time.Second:  "too new",
		-5*time.Minute - time.Second: "too old",
	} {
		header := signed(t, "http://receiver.example", "whd_1", now.Add(off), event, secret).Header
		err := parsed(t, secret).verify([]byte(event), header, func() time.Time { return now })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s from now: %v", off, err)
		}
		if err := parsed(t, secret).verify([]byte(event), header, nil); err == nil {
			t.Errorf("%s from 2031, by the system's clock: verified", off)
		}
		header.Set("webhook-timestamp", "x")
		if err := parsed(t, secret).verify([]byte(event), header, func() time.Time { return now }); err == nil || !strings.Contains(err.Error(), "not a number") {
			t.Errorf("a timestamp that is no number: %v", err)
		}
	}
}
