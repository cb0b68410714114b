package server

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
)

// lastUsed is when the store says that a key was used last.
func (env *testEnv) lastUsed(id string) (at time.Time) {
	env.Helper()
	err := env.Store.View(env.Context(), func(tx store.Tx) (err error) {
		use, err := tx.KeyUse(id)
		at = use.LastUsedAt
		return err
	})
	kit.Must(env, err)
	return at
}

func (env *testEnv) keepKeyUse() {
	env.Helper()
	kit.Must(env, env.server.KeepKeyUse(env.Context()))
}

func TestKeyUse(t *testing.T) {
	env := newTestEnv(t, Config{KeyRate: 1})
	ask := func(key string, headers ...string) { env.do(newRequest("GET", "/api/v1/members", key, headers...)) }
	holds := func(id string, want time.Time) {
		t.Helper()
		if at := env.lastUsed(id); !at.Equal(want) {
			t.Errorf("%s was used at %v, want %v", id, at, want)
		}
	}
	ask("key_read")
	ask("key_read") // over its limit, but with the secret
	ask("", "Authorization", "Bearer key_both.wrong")
	for _, refused := range []string{"key_expired", "key_revoked", "key_demoted", "key_none"} {
		ask(refused)
		holds(refused, time.Time{})
	}
	holds("key_read", time.Time{}) // not before it is kept
	generation := env.Store.AccessGeneration()
	env.keepKeyUse()
	holds("key_read", kit.Noon)
	for _, refused := range []string{"key_both", "key_expired", "key_revoked", "key_demoted", "key_none"} {
		holds(refused, time.Time{})
	}
	if env.Store.AccessGeneration() != generation {
		t.Error("what is known of keys is to be read again")
	}

	env.Advance(time.Minute - time.Millisecond)
	ask("key_read") // in the same minute
	if n := len(env.server.keyUse.take()); n > 0 {
		t.Errorf("%d uses are noted in a minute that is known", n)
	}
	env.Advance(time.Minute)
	ask("key_read")
	ask("key_both")
	env.keepKeyUse()
	holds("key_read", kit.Noon.Add(time.Minute))
	holds("key_both", kit.Noon.Add(time.Minute))
}

// TestKeyUseSurvives: what is noted outlives the memory of keys, and a storage
// that fails.
func TestKeyUseSurvives(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.do(newRequest("GET", "/api/v1/members", "key_read"))
	steps["key_both is revoked"](env)
	env.Advance(time.Minute)
	env.do(newRequest("GET", "/api/v1/members", "key_write"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := env.server.KeepKeyUse(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	env.Advance(time.Minute)
	env.do(newRequest("GET", "/api/v1/members", "key_write"))
	env.keepKeyUse()
	for id, minute := range map[string]time.Duration{"key_read": 0, "key_write": 2} {
		if at := env.lastUsed(id); !at.Equal(kit.Noon.Add(minute * time.Minute)) {
			t.Errorf("%s was used at %v", id, at)
		}
	}
}

// TestKeyUseWritesNothing while there is nothing new.
func TestKeyUseWritesNothing(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t, Config{})
	var first string
	for i := range 10 {
		env.do(newRequest("GET", "/api/v1/members", "key_read"))
		env.keepKeyUse()
		file := kit.ReadText(t, env.Store.(store.FileEngine).Path())
		if i > 0 && file != first {
			t.Fatalf("request %d of a minute was written", i)
		}
		first = file
	}
}

// TestKeyUseTogether notes uses of all minutes from many goroutines while others
// write them.
func TestKeyUseTogether(t *testing.T) {
	env := newTestEnv(t, Config{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				env.do(newRequest("GET", "/api/v1/members", "key_read"))
				env.Advance(time.Minute)
				env.keepKeyUse()
			}
		})
	}
	all.Wait()
	env.do(newRequest("GET", "/api/v1/members", "key_read"))
	env.keepKeyUse()
	if at := env.lastUsed("key_read"); !at.Equal(env.Now()) {
		t.Errorf("used at %v, and last at %v", at, env.Now())
	}
}

// A key of a deleted org is as unknown as any other, from the commit on, also if it
// is cached; its use is not written once the key is gone.
func TestKeyOfADeletedOrg(t *testing.T) {
	env := newTestEnv(t, Config{})
	ask := func(key string) *httptest.ResponseRecorder {
		return env.do(newRequest("GET", "/api/v1/members", key))
	}
	if a := ask("key_read"); a.Code != 200 {
		t.Fatalf("before: %d %s", a.Code, a.Body)
	}
	env.Update(func(tx store.Tx) error { return store.DeleteOrg(tx, "org_acme") })
	message := func(a *httptest.ResponseRecorder) string {
		text, _, _ := strings.Cut(a.Body.String(), `"requestId"`)
		return text
	}
	unknown := ask("key_none")
	for _, when := range []string{"deleted", "dropped"} {
		for _, key := range []string{"key_read", "key_both", "key_revoked"} {
			if a := ask(key); a.Code != 401 || message(a) != message(unknown) {
				t.Errorf("%s, once its org is %s: %d %s, want %s", key, when, a.Code, a.Body, unknown.Body)
			}
		}
		kit.Must(t, store.DropRemoved(env.Context(), env.Store))
	}
	env.keepKeyUse()
	if at := env.lastUsed("key_read"); !at.IsZero() {
		t.Errorf("there is a use of a key that is gone: %v", at)
	}
	if a := ask("key_team"); a.Code != 200 {
		t.Errorf("another org's key: %d %s", a.Code, a.Body)
	}
}
