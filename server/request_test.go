package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"teamdata/store"
)

// TestOrderOfChecks makes requests that fail several checks: each row its own
// and, as far as that goes together, all that come after it.
func TestOrderOfChecks(t *testing.T) {
	const (
		webhook = "/api/v1/webhooks/whe_none/test"
		busy    = "192.0.2.250:1" // an address whose limit is used up
	)
	env := newTestEnv(t, Config{KeyRate: 4, ClientRate: 1})
	env.Update(func(tx store.Tx) error {
		_, err := store.ImportKey(tx, store.APIKey{
			ID: "key_free_read", OrgID: "org_free", Scopes: store.ScopeRead, CreatedBy: "usr_fay",
			SecretHash: store.HashSecret(fixtureSecret),
		})
		return err
	})
	env.do(from(busy, newRequest("GET", "/api/v1/members", "")))
	env.do(from("192.0.2.251:1", newRequest("POST", "/api/v1/webhooks/whe_open/test", "key_both", "Idempotency-Key", "used")))
	for i := range 4 {
		env.do(from(fmt.Sprintf("192.0.2.%d:1", 240+i), newRequest("GET", "/api/v1/members", "key_free")))
	}

	for i, row := range []struct {
		check   string
		request *http.Request
		want    store.Code
	}{
		{"route", from(busy, newRequest("POST", "/api/v1/nothing", "key_none", "API-Version", "1")), store.CodeNotFound},
		{"empty parameter", from(busy, newRequest("POST", "/api/v1/webhooks//test", "key_none", "API-Version", "1")), store.CodeNotFound},
		{"method", from(busy, newRequest("PUT", webhook, "key_none", "API-Version", "1")), store.CodeMethodNotAllowed},
		{"client limit", from(busy, newRequest("POST", webhook, "key_none", "API-Version", "1")), store.CodeRateLimited},
		{"version", newRequest("POST", webhook, "key_none", "API-Version", "1"), store.CodeBadRequest},
		{"key", newRequest("POST", webhook, "", "Authorization", "Bearer key_free.wrong"), store.CodeUnauthorized},
		{"key limit", newRequest("POST", webhook, "key_free"), store.CodeRateLimited},
		{"plan", newRequest("POST", webhook, "key_free_read", "Idempotency-Key", ""), store.CodeUpgradeRequired},
		{"scope of a list", newRequest("GET", "/api/v1/members?limit=0", "key_write"), store.CodeForbidden},
		{"scope of a test", withBody(newRequest("POST", webhook, "key_read", "Idempotency-Key", ""), maxBody+1), store.CodeForbidden},
		{"form of the idempotency key", withBody(newRequest("POST", webhook, "key_write", "Idempotency-Key", ""), maxBody+1), store.CodeBadRequest},
		{"body", withBody(newRequest("POST", webhook, "key_write", "Idempotency-Key", "used"), maxBody+1), store.CodePayloadTooLarge},
		{"idempotency", newRequest("POST", webhook, "key_write", "Idempotency-Key", "used"), store.CodeIdempotencyMismatch},
		{"resource", newRequest("POST", webhook, "key_both"), store.CodeNotFound},
	} {
		t.Run(row.check, func(t *testing.T) {
			if row.request.RemoteAddr != busy {
				row.request.RemoteAddr = fmt.Sprintf("198.51.100.%d:1", i)
			}
			wantError(t, env.do(row.request), row.want)
		})
	}

	env.server.stopping.Store(true)
	wantError(t, env.do(from(busy, newRequest("GET", "/nothing", ""))), store.CodeUnavailable)
}

func from(address string, r *http.Request) *http.Request {
	r.RemoteAddr = address
	return r
}

func withBody(r *http.Request, size int) *http.Request {
	r.Body = io.NopCloser(bytes.NewReader(make([]byte, size)))
	r.ContentLength = int64(size)
	return r
}

// wantError holds an answer to the error body and the status of a code.
func wantError(t *testing.T, answer *httptest.ResponseRecorder, want store.Code) {
	t.Helper()
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v in %s", err, answer.Body)
	}
	if answer.Code != want.Status() || body.Error.Code != string(want) || body.Error.Message == "" {
		t.Errorf("got %d %s, want %d %s", answer.Code, answer.Body, want.Status(), want)
	}
	if values := header(answer, "API-Version"); len(values) != 1 {
		t.Errorf("API-Version is %q", values)
	}
}

// TestEveryRouteNeedsItsScopeAndFeatures goes through the contract's table of
// operations with the org's plan and the key's scope each one short.
func TestEveryRouteNeedsItsScopeAndFeatures(t *testing.T) {
	for _, row := range []struct {
		method, path string
		scope        store.KeyScope
		features     store.Feature
	}{
		{"GET", "/api/v1/members", store.ScopeRead, store.FeatureAPI},
		{"GET", "/api/v1/audit-log", store.ScopeRead, store.FeatureAPI | store.FeatureAuditLog},
		{"POST", "/api/v1/webhooks/whe_1/test", store.ScopeWrite, store.FeatureAPI | store.FeatureWebhooks},
		{"GET", "/api/v1/assistant/instructions", store.ScopeRead, store.FeatureAPI},
	} {
		t.Run(row.method+row.path, func(t *testing.T) {
			const allScopes, allFeatures = store.ScopeRead | store.ScopeWrite, store.FeatureAPI | store.FeatureAuditLog | store.FeatureWebhooks
			holds := func(features store.Feature, scopes store.KeyScope, want int) {
				t.Helper()
				if got := answerTo(t, row.method, row.path, features, scopes).Code; got != want {
					t.Errorf("features %q, scopes %b: got %d, want %d", features, scopes, got, want)
				}
			}
			holds(row.features, row.scope, http.StatusOK)
			holds(allFeatures, allScopes&^row.scope, http.StatusForbidden)
			for f := store.FeatureAPI; f <= store.FeatureAuditLog; f <<= 1 {
				want := http.StatusOK
				if row.features.Has(f) {
					want = http.StatusPaymentRequired
				}
				holds(allFeatures&^f, allScopes, want)
			}
		})
	}
}

// answerTo asks with a key of an org of these features.
func answerTo(t *testing.T, method, path string, features store.Feature, scopes store.KeyScope) *httptest.ResponseRecorder {
	t.Helper()
	env := newTestEnv(t, Config{})
	env.Update(func(tx store.Tx) error {
		if err := store.AddPlan(tx, store.Plan{Name: "odd", Features: features}); err != nil {
			return err
		}
		sub := store.Subscription{Product: "p", Plan: "odd", Interval: "i", Status: "trialing"}
		if _, err := store.ImportOrg(tx, store.Org{ID: "org_odd", Name: "Odd", Subscription: sub}); err != nil {
			return err
		}
		if _, err := store.ImportMember(tx, store.Member{OrgID: "org_odd", UserID: "usr_odd", Role: "admin"}); err != nil {
			return err
		}
		if _, err := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: "org_odd", URL: "https://a.example", Events: []string{"member.added"}}); err != nil {
			return err
		}
		_, err := store.ImportKey(tx, store.APIKey{
			ID: "key_odd", OrgID: "org_odd", Scopes: scopes, CreatedBy: "usr_odd", SecretHash: store.HashSecret(fixtureSecret),
		})
		return err
	})
	return env.do(newRequest(method, path, "key_odd"))
}
