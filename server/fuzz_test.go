package server

import (
	"net/http"
	"strings"
	"testing"
)

// holdsNoFault makes a request of whatever a client may send, and holds the
// answer to being none of the server's fault.
func holdsNoFault(t *testing.T, w *world, r *http.Request) int {
	t.Helper()
	answer := w.do(r)
	if answer.Code >= 500 || answer.Code < 200 || header(answer, "API-Version") == nil || w.log.String() != "" {
		t.Errorf("%d %s\n%s", answer.Code, answer.Body, w.log)
	}
	return answer.Code
}

func FuzzAuthorization(f *testing.F) {
	w := newWorld(f, Config{KeyRate: 1e6})
	const right = "Bearer key_read." + fixtureSecret
	for _, seed := range []string{right, "", "Bearer", "Bearer .", "bearer key_read.", "Basic a", "Bearer key_revoked." + fixtureSecret, "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		status := holdsNoFault(t, w, request("GET", "/api/v1/members", "", "Authorization", value))
		if status == http.StatusOK && !strings.Contains(value, "."+fixtureSecret) {
			t.Errorf("%q was let in", value)
		}
	})
}

func FuzzPageQuery(f *testing.F) {
	w := newWorld(f, Config{})
	for _, seed := range []string{"", "limit=2", "after=1.a", "limit=2&after=%31.%00", "limit&after=1.a", "limit=%zz", "a&b;c=&&=", "after=1.\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := request("GET", "/api/v1/members", "key_read")
		r.URL.RawQuery = query
		holdsNoFault(t, w, r)
	})
}

func FuzzAPIVersion(f *testing.F) {
	w := newWorld(f, Config{versions: threeVersions})
	for _, seed := range []string{"", "2026-10-06", "2025-01-01", "2026-10-6", "latest", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		status := holdsNoFault(t, w, request("GET", "/api/v1/members", "key_read", "API-Version", value))
		known := value == "2026-10-06" || value == "2025-01-01" || value == "2024-01-01"
		if known != (status == http.StatusOK) {
			t.Errorf("%q: got %d", value, status)
		}
	})
}

func FuzzIdempotencyKey(f *testing.F) {
	w := newWorld(f, Config{})
	for _, seed := range []string{"", "k", " ", "é", "\x7f", strings.Repeat("k", 255), strings.Repeat("k", 256)} {
		f.Add(seed, []byte("{}"))
	}
	f.Fuzz(func(t *testing.T, key string, body []byte) {
		r := request("POST", testOpen, "key_write", "Idempotency-Key", key)
		holdsNoFault(t, w, withBody(r, len(body)%(2*maxBody)))
	})
}
