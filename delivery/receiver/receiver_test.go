package receiver

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"teamdata/delivery/signature"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestReceiver(t *testing.T) {
	var out bytes.Buffer
	r, err := New(secret, &out)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	defer server.Close()
	now := time.Now().Unix()
	for _, test := range []struct {
		name   string
		at     int64
		body   string // what is sent; what is signed is {"a":1}
		status int
		print  string
	}{
		{"signed", now, `{"a":1}`, 204, "whd_1  verified\n  {\"a\":1}\n"},
		{"again", now, `{"a":1}`, 204, "whd_1  verified, seen before\n"},
		{"changed on the way", now, `{"a":2}`, 400, "whd_1  REFUSED: "},
		{"too old", now - 301, `{"a":1}`, 400, "too old"},
		{"too new", now + 302, `{"a":1}`, 400, "too new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out.Reset()
			if status := post(t, server.URL, test.at, test.body); status != test.status {
				t.Errorf("answered %d, not %d", status, test.status)
			}
			if !strings.Contains(out.String(), test.print) {
				t.Errorf("printed %q, not %q", out.String(), test.print)
			}
		})
	}
}

func post(t *testing.T, url string, at int64, body string) int {
	t.Helper()
	key, err := signature.ParseSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("webhook-id", "whd_1")
	q.Header.Set("webhook-timestamp", fmt.Sprint(at))
	q.Header.Set("webhook-signature", string(signature.Sign(nil, "whd_1", at, []byte(`{"a":1}`), key)))
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestBadSecret(t *testing.T) {
	if _, err := New("whsec_!", nil); err == nil {
		t.Error("a secret that is not base64 was taken")
	}
}
