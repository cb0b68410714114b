package certificates

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A call is made again at once with another nonce, later when the authority is
// out of order, and not when it was asked too often.
func TestBackoff(t *testing.T) {
	for _, test := range []struct {
		n, status int
		want      time.Duration
	}{
		{1, 400, time.Millisecond}, {30, 400, time.Millisecond}, {31, 400, 0},
		{1, 503, time.Second}, {2, 500, 2 * time.Second}, {20, 503, 8 * time.Second}, {31, 503, 0}, {1, 429, 0},
	} {
		if got := backoff(test.n, nil, &http.Response{StatusCode: test.status}); got != test.want {
			t.Errorf("failure %d, status %d: %v", test.n, test.status, got)
		}
	}
}

func TestProblemIn(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{200, `{"status":"valid","type":"http-01"}`, ""},
		{200, "-----BEGIN CERTIFICATE-----", ""},
		{200, "", ""},
		{200, `{"challenges":[{"type":"http-01"},{"type":"tls-alpn-01","error":{"type":"urn:x:connection","detail":"no way"}}]}`, "challenge tls-alpn-01: no way (urn:x:connection)"},
		{200, `{"status":"invalid","error":{"type":"urn:x:caa","detail":"not us"}}`, "order: not us (urn:x:caa)"},
		{400, `{"type":"urn:ietf:params:acme:error:badNonce","detail":"stale","status":400}`, ""},
		{429, `{"type":"urn:x:rateLimited","detail":"too many","status":429}`, "answered 429: too many (urn:x:rateLimited)"},
		{502, "<html>", "answered 502 Bad Gateway"},
		{404, `{}`, "answered 404 Not Found"},
		{500, `{"type":"x","detail":"` + strings.Repeat("a", 600) + `"}`, "answered 500: " + strings.Repeat("a", 500) + " (x)"},
	} {
		got := ""
		if err := problemIn(test.status, []byte(test.body)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d %s: %q", test.status, test.body, got)
		}
	}
}
