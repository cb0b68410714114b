package server

import (
	"fmt"
	"net/http"
	"testing"

	"teamdata/store"
)

func TestBearerKey(t *testing.T) {
	for _, row := range []struct {
		values []string
		want   error
	}{
		{[]string{"Bearer key_1.secret"}, nil},
		{[]string{"bearer key_1.secret"}, nil},
		{[]string{"BEARER key_1.secret"}, nil},
		{[]string{"Bearer   key_1.secret"}, nil},
		{nil, errNoKey},
		{[]string{""}, errNoKey},
		{[]string{"Bearer"}, errWrongKey},
		{[]string{"Bearer "}, errWrongKey},
		{[]string{"Bearer key_1"}, errWrongKey},
		{[]string{"Bearer key_1."}, errWrongKey},
		{[]string{"Bearer .secret"}, errWrongKey},
		{[]string{"Bearer k y.secret"}, errWrongKey},
		{[]string{"Bearer\tkey_1.secret"}, errWrongKey},
		{[]string{"Bearerkey_1.secret"}, errWrongKey},
		{[]string{"Token key_1.secret"}, errWrongKey},
		{[]string{"key_1.secret"}, errWrongKey},
		{[]string{"Bearer key_1.secret", "Bearer key_1.secret"}, errWrongKey},
		{[]string{"", ""}, errWrongKey},
	} {
		id, secret, err := bearerKey(row.values)
		if err != row.want {
			t.Errorf("%q: got %v, want %v", row.values, err, row.want)
		}
		if err == nil && (id != "key_1" || secret != "secret") {
			t.Errorf("%q: got the key %q with the secret %q", row.values, id, secret)
		}
	}
}

// What a key may do is kept in memory, and still every change of it holds for
// the first request after its commit.
func TestAccessChangesHoldFromTheirCommitOn(t *testing.T) {
	for _, row := range []struct {
		step string
		path string
		want int
	}{
		{"key_both is revoked", "/api/v1/members", http.StatusUnauthorized},
		{"usr_bob, who made key_both, becomes a plain member", "/api/v1/members", http.StatusUnauthorized},
		{"usr_bob, who made key_both, leaves", "/api/v1/members", http.StatusUnauthorized},
		{"org_acme goes over to the plan team", "/api/v1/audit-log", http.StatusPaymentRequired},
	} {
		t.Run(row.step, func(t *testing.T) {
			env := newTestEnv(t, Config{})
			ask := func() int { return env.do(newRequest("GET", row.path, "key_both")).Code }
			if first, second := ask(), ask(); first != http.StatusOK || second != http.StatusOK {
				t.Fatalf("before it: %d, %d", first, second)
			}
			steps[row.step](env)
			if got := ask(); got != row.want {
				t.Errorf("after it: %d, want %d", got, row.want)
			}
		})
	}
}

// While many ask and the access changes, nobody is let in after the commit.
func TestRevocationUnderLoad(t *testing.T) {
	env := newTestEnv(t, Config{})
	stop, late := make(chan struct{}), make(chan int, 4)
	revoked := make(chan struct{})
	for range cap(late) {
		go func() {
			in := 0
			for {
				after := isClosed(revoked)
				if env.do(newRequest("GET", "/api/v1/members", "key_both")).Code == http.StatusOK && after {
					in++
				}
				if isClosed(stop) {
					late <- in
					return
				}
			}
		}()
	}
	for range 20 {
		env.Update(func(tx store.Tx) error {
			return changeRole(tx, "usr_ada", "org_acme", "usr_cyn", "member")
		})
	}
	steps["key_both is revoked"](env)
	close(revoked)
	for range 100 {
		env.do(newRequest("GET", "/api/v1/members", "key_both"))
	}
	close(stop)
	for range cap(late) {
		if n := <-late; n > 0 {
			t.Errorf("%d requests were let in after the revocation", n)
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAccessIsReadOnce(t *testing.T) {
	env := newTestEnv(t, Config{})
	first, err := env.server.accessOf(t.Context(), "key_read", fixtureSecret)
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := env.server.accessOf(t.Context(), "key_read", fixtureSecret); second != first {
		t.Error("it was read again although nothing changed")
	}
	if _, err := env.server.accessOf(t.Context(), "key_read", "wrong"); err != errWrongKey {
		t.Errorf("a wrong secret for a known key: %v", err)
	}
}

// Whoever has no key of ours can't fill our memory.
func TestUnknownKeysAreNotRemembered(t *testing.T) {
	env := newTestEnv(t, Config{KeyRate: 1})
	for i := range 200 {
		env.do(newRequest("GET", "/api/v1/members", fmt.Sprint("key_", i)))
		env.do(newRequest("GET", "/api/v1/members", "", "Authorization", "Bearer key_read.wrong"))
	}
	if n := len(env.server.keys.byID); n != 0 {
		t.Errorf("%d keys are remembered", n)
	}
	if got := env.do(newRequest("GET", "/api/v1/members", "key_read")).Code; got != http.StatusOK {
		t.Errorf("wrong secrets used up the limit of the key: %d", got)
	}
}

func TestAccessCacheIsBounded(t *testing.T) {
	var c accessCache
	for i := range 10_001 {
		if n := len(c.byID); n != i {
			t.Fatalf("%d keys of %d are remembered", n, i)
		}
		c.put(&cachedAccess{generation: 1, Access: &store.Access{Key: store.APIKey{ID: fmt.Sprint("key_", i)}}})
	}
	if n := len(c.byID); n != 1 {
		t.Errorf("%d keys are remembered of one more than the most", n)
	}
	if last := "key_10000"; c.get(last, 1) == nil || c.get(last, 2) != nil {
		t.Error("an access is not found under its generation alone")
	}
}

// A fault of the storage is 503 wherever it strikes, and never 401.
func TestStorageFaults(t *testing.T) {
	for _, row := range []struct {
		name string
		r    *http.Request
	}{
		{"key that is remembered", newRequest("GET", "/api/v1/members", "key_both")},
		{"key that is not", newRequest("GET", "/api/v1/members", "key_read")},
		{"unknown key", newRequest("GET", "/api/v1/members", "key_none")},
		{"audit log", newRequest("GET", "/api/v1/audit-log", "key_both")},
		{"instructions", newRequest("GET", "/api/v1/assistant/instructions", "key_both")},
		{"test", newRequest("POST", "/api/v1/webhooks/whe_open/test", "key_both")},
		{"test with an idempotency key", newRequest("POST", "/api/v1/webhooks/whe_open/test", "key_both", "Idempotency-Key", "k")},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := newTestEnv(t, Config{})
			env.do(newRequest("GET", "/api/v1/members", "key_both"))
			steps["the storage fails"](env)
			answer := env.do(row.r)
			wantError(t, answer, store.CodeUnavailable)
			if header(answer, "Retry-After") == nil || header(answer, "WWW-Authenticate") != nil {
				t.Errorf("headers %v", answer.Header())
			}
			if env.LogOutput.String() == "" {
				t.Error("the log says nothing")
			}
		})
	}
}
