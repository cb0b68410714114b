package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// asked makes a request of whatever a client may send, and holds the answer to
// being none of the server's fault.
func asked(t *testing.T, env *testEnv, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	env.TB = t
	answer := env.do(r)
	if answer.Code >= 500 || answer.Code < 200 || header(answer, "API-Version") == nil || env.LogOutput.String() != "" {
		t.Errorf("%d %s\n%s", answer.Code, answer.Body, env.LogOutput)
	}
	return answer
}

// goodBearer is the header that names a key of the fixture and its secret.
var goodBearer = regexp.MustCompile(`^(?i:bearer) +(\w+)\.` + fixtureSecret + `$`)

// FuzzAuthorization holds each header to the status that its key has; any other
// form, and any other key, is 401.
func FuzzAuthorization(f *testing.F) {
	env := newTestEnv(f, Config{})
	statusOf := map[string]int{
		"key_read": 200, "key_both": 200, "key_hour": 200, "key_team": 200, "key_readers": 200,
		"key_write": 403, "key_free": 402, "key_lapsed": 402,
	}
	f.Fuzz(func(t *testing.T, value string) {
		want := http.StatusUnauthorized
		if key := goodBearer.FindStringSubmatch(value); key != nil && statusOf[key[1]] != 0 {
			want = statusOf[key[1]]
		}
		answer := asked(t, env, newRequest("GET", "/api/v1/members", "", "Authorization", value))
		if answer.Code != want || (header(answer, "WWW-Authenticate") != nil) != (want == http.StatusUnauthorized) {
			t.Errorf("%q: %d with %v, want %d", value, answer.Code, answer.Header(), want)
		}
	})
}

// FuzzPageQuery holds what a list answers to any query: badRequest, or a page
// whose next leads on, to what this page has not.
func FuzzPageQuery(f *testing.F) {
	env := newTestEnv(f, Config{})
	type page struct {
		Data    []struct{ ID string }
		Next    *string
		HasMore bool
	}
	ask := func(t *testing.T, query string) (page, int) {
		r := newRequest("GET", "/api/v1/members", "key_read")
		r.URL.RawQuery = query
		answer := asked(t, env, r)
		var p page
		if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		return p, answer.Code
	}
	f.Fuzz(func(t *testing.T, query string) {
		first, status := ask(t, query)
		if status == http.StatusBadRequest {
			return
		}
		if first.Next == nil {
			t.Fatalf("%q: status %d, no next, although the list is not empty", query, status)
		}
		second, status := ask(t, "after="+url.QueryEscape(*first.Next))
		if status != http.StatusOK || second.HasMore || first.HasMore != (len(second.Data) > 0) {
			t.Errorf("%q: %+v is followed by %d %+v", query, first, status, second)
		}
		for _, item := range second.Data {
			if slices.Contains(first.Data, item) {
				t.Errorf("%q: %s comes twice", query, item.ID)
			}
		}
	})
}

func FuzzAPIVersion(f *testing.F) {
	env := newTestEnv(f, Config{versions: threeVersions})
	f.Fuzz(func(t *testing.T, value string) {
		known := slices.ContainsFunc(threeVersions, func(v version) bool { return v.date == value })
		want, named := http.StatusBadRequest, threeVersions[0].date
		if known {
			want, named = http.StatusOK, value
		}
		answer := asked(t, env, newRequest("GET", "/api/v1/members", "key_read", "API-Version", value))
		if answer.Code != want || header(answer, "API-Version")[0] != named {
			t.Errorf("%q: got %d in %q", value, answer.Code, header(answer, "API-Version"))
		}
	})
}

// FuzzIdempotencyKey sends a request, sends it again, and sends another one with
// its key. What is answered is kept for a day, so that each round has a day of
// its own.
func FuzzIdempotencyKey(f *testing.F) {
	env := newTestEnv(f, Config{})
	ask := func(t *testing.T, key string, body []byte) *httptest.ResponseRecorder {
		r := newRequest("POST", "/api/v1/webhooks/whe_closed/test", "key_write", "Idempotency-Key", key)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return asked(t, env, r)
	}
	f.Fuzz(func(t *testing.T, key string, body []byte) {
		env.Advance(store.IdempotencyTTL + time.Minute)
		want := http.StatusConflict // the endpoint is disabled
		if len(body) > maxBody {
			want = http.StatusRequestEntityTooLarge
		}
		if !store.ValidIdempotencyKey(key) {
			want = http.StatusBadRequest
		}
		executed := want == http.StatusConflict
		first, again, other := ask(t, key, body), ask(t, key, body), ask(t, key, append(body, 'x'))
		if first.Code != want || again.Code != want || executed && again.Body.String() != first.Body.String() {
			t.Errorf("%q: got %d %s, then %d %s, want %d", key, first.Code, first.Body, again.Code, again.Body, want)
		}
		if replayed := header(again, "Idempotent-Replayed") != nil; replayed != executed || header(first, "Idempotent-Replayed") != nil {
			t.Errorf("%q: replayed %v, want %v", key, replayed, executed)
		}
		if executed && len(body) < maxBody && other.Code != http.StatusUnprocessableEntity {
			t.Errorf("%q: another request is answered %d", key, other.Code)
		}
	})
}
