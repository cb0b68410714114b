package teamdata_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/internal/signature"
)

const (
	oldSecret = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="
	newSecret = "whsec_bmV3LXRlYW1kYXRhLWV4YW1wbGUtc2VjcmV0LS0zMmI="
	other     = "whsec_b3RoZXItdGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzI="
	body      = `{"type":"member.added","timestamp":"2026-10-06T12:00:00.000Z","data":{"orgId":"org_acme","memberId":"mem_6","userId":"usr_zoe","role":"member"}}`
)

var noon = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

func verifier(t *testing.T, now time.Time, secrets ...string) *teamdata.Verifier {
	t.Helper()
	v, err := teamdata.NewVerifier(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	v.Now = func() time.Time { return now }
	return v
}

// signed is the header of a webhook as the server signs it.
func signed(t *testing.T, body string, secrets ...string) http.Header {
	t.Helper()
	var parsed []signature.Secret
	for _, text := range secrets {
		secret, err := signature.ParseSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, secret)
	}
	h := http.Header{}
	h.Set("webhook-id", "whd_1")
	h.Set("webhook-timestamp", strconv.FormatInt(noon.Unix(), 10))
	h.Set("webhook-signature", string(signature.Sign(nil, "whd_1", noon.Unix(), []byte(body), parsed...)))
	return h
}

// Everything in the vectors is signed as it should be; not all of it is an event.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Name, Secret, ID, Timestamp, Body, Signature string }
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal(len(vectors), err)
	}
	for _, x := range vectors {
		seconds, err := strconv.ParseInt(x.Timestamp, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		v, h := verifier(t, time.Unix(seconds, 0), x.Secret), http.Header{}
		h.Set("webhook-id", x.ID)
		h.Set("webhook-timestamp", x.Timestamp)
		h.Set("webhook-signature", x.Signature)
		if e, err := v.Verify(h, []byte(x.Body)); err != nil || e.ID != x.ID || string(e.Body) != x.Body {
			t.Errorf("%s: %+v, %v", x.Name, e, err)
		}
		if _, err := v.Verify(h, []byte(x.Body+" ")); !errors.Is(err, teamdata.ErrNotVerified) {
			t.Errorf("%s with another body: %v", x.Name, err)
		}
	}
}

func TestVerify(t *testing.T) {
	with := func(name, value string) http.Header {
		h := signed(t, body, oldSecret)
		h.Set(name, value)
		return h
	}
	one, both := signed(t, body, oldSecret), signed(t, body, newSecret, oldSecret)
	fits := one.Get("webhook-signature")
	lower := http.Header{} // as AWS Lambda has them
	for name, values := range one {
		lower[strings.ToLower(name)] = values
	}
	for _, tt := range []struct {
		name   string
		header http.Header
		after  time.Duration // from noon until now
		with   []string
		want   string // in the error; empty: it verifies
	}{
		{"one signature", one, 0, []string{oldSecret}, ""},
		{"names in small letters", lower, 0, []string{oldSecret}, ""},
		{"rotation, the old secret", both, 0, []string{oldSecret}, ""},
		{"rotation, the new secret", both, 0, []string{newSecret}, ""},
		{"rotation, both secrets", one, 0, []string{newSecret, oldSecret}, ""},
		{"a signature of another scheme first", with("webhook-signature", "v1a,AAAA "+fits), 0, []string{oldSecret}, ""},
		{"5 minutes ago", one, 5 * time.Minute, []string{oldSecret}, ""},
		{"in 5 minutes", one, -5 * time.Minute, []string{oldSecret}, ""},
		{"more than 5 minutes ago", one, 5*time.Minute + 1, []string{oldSecret}, "5m0s from now"},
		{"in more than 5 minutes", one, -5*time.Minute - 1, []string{oldSecret}, "5m0s from now"},
		{"the end of time", with("webhook-timestamp", "9223372036854775807"), 0, []string{oldSecret}, "from now"},
		{"another secret", one, 0, []string{other}, "no signature fits"},
		{"another id", with("webhook-id", "whd_2"), 0, []string{oldSecret}, "no signature fits"},
		{"another time", with("webhook-timestamp", fmt.Sprint(noon.Unix()+1)), 0, []string{oldSecret}, "no signature fits"},
		{"a cut signature", with("webhook-signature", fits[:len(fits)-1]), 0, []string{oldSecret}, "no signature fits"},
		{"another scheme alone", with("webhook-signature", "v2"+fits[2:]), 0, []string{oldSecret}, "no signature fits"},
		{"no signature", with("webhook-signature", ""), 0, []string{oldSecret}, "no signature fits"},
		{"no id", with("webhook-id", ""), 0, []string{oldSecret}, "webhook-id is missing"},
		{"no time", with("webhook-timestamp", ""), 0, []string{oldSecret}, "webhook-timestamp is missing"},
		{"no header", http.Header{}, 0, []string{oldSecret}, "webhook-timestamp is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := verifier(t, noon.Add(tt.after), tt.with...).Verify(tt.header, []byte(body))
			if tt.want != "" {
				if !errors.Is(err, teamdata.ErrNotVerified) || !strings.Contains(err.Error(), tt.want) || e.ID != "" {
					t.Errorf("%+v, %v; want an error with %q", e, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var added teamdata.MemberAdded
			if err := e.Decode(&added); err != nil || added.Data.UserID != "usr_zoe" || e.Type != "member.added" || !e.Timestamp.Equal(noon) {
				t.Errorf("%+v decodes to %+v, %v", e, added, err)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	v := verifier(t, noon.Add(time.Hour), oldSecret)
	v.Tolerance = time.Hour
	if _, err := v.Verify(signed(t, body, oldSecret), []byte(body)); err != nil {
		t.Error(err)
	}
}

func TestVerifyRequest(t *testing.T) {
	v := verifier(t, noon, oldSecret)
	event := func(size int) string {
		return `{"type":"a","data":{"x":"` + strings.Repeat("y", size-len(`{"type":"a","data":{"x":""}}`)) + `"}}`
	}
	for size, ok := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		r := httptest.NewRequest("POST", "/hook", strings.NewReader(event(size)))
		r.Header = signed(t, event(size), oldSecret)
		if _, err := v.VerifyRequest(r); (err == nil) != ok || !ok && !errors.Is(err, teamdata.ErrNotVerified) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	r := httptest.NewRequest("POST", "/hook", strings.NewReader(body))
	r.Header = signed(t, body, oldSecret)
	io.Copy(io.Discard, r.Body)
	if _, err := v.VerifyRequest(r); !errors.Is(err, teamdata.ErrNotVerified) || !strings.Contains(err.Error(), "something has read it before") {
		t.Errorf("a body that was read: %v", err)
	}
	r = httptest.NewRequest("POST", "/hook", bytes.NewReader([]byte("no JSON")))
	r.Header = signed(t, "no JSON", oldSecret)
	if _, err := v.VerifyRequest(r); err == nil || errors.Is(err, teamdata.ErrNotVerified) {
		t.Errorf("what is signed and no event: %v", err)
	}
}

// A verifier can't be made with a secret that anyone could guess, and does not tell
// the one that it was given.
func TestSecretsThatAreNotWhole(t *testing.T) {
	for _, secrets := range [][]string{{}, {""}, {"whsec_"}, {oldSecret[6:]}, {oldSecret[:30]}, {oldSecret, "whsec_" + strings.Repeat("A", 88)}, {oldSecret + "\n"}, {"whsec_" + strings.Repeat("A", 28)}} {
		_, err := teamdata.NewVerifier(secrets...)
		if err == nil {
			t.Errorf("%q: accepted", secrets)
		} else if strings.Contains(err.Error(), "dGVh") {
			t.Errorf("%q: the error holds the secret: %v", secrets, err)
		}
	}
}
