package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/store"
)

// A round: what was pulled is acknowledged with the next pull.
func TestPullRound(t *testing.T) {
	env := newPullEnv(t, Config{})
	ids := env.send("whe_pull", 3)
	first := env.pull("whe_pull", "key_pull", `{"limit":2}`)
	env.wantPulled(first, ids[:2]...)
	second := env.pull("whe_pull", "key_pull", `{"ack":["`+strings.Join(ids[:2], `","`)+`"]}`)
	env.wantPulled(second, ids[2])
	if a := env.pull("whe_pull/ack", "key_pull", `{"ids":["`+ids[2]+`"]}`); a.code != http.StatusOK {
		t.Errorf("the acknowledgment is answered with %+v", a)
	}
	env.Advance(2 * time.Minute)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""))
	if d := first.Deliveries[0]; !d.LeaseEndsAt.Equal(env.Now().Add(-time.Minute)) || d.Lease == "" || d.Lease == second.Deliveries[0].Lease {
		t.Errorf("the lease is %+v", d)
	}
}

// What is pulled has the bytes and the headers of a push, with two signatures while a secret
// is rotated.
func TestPulledIsAsPushed(t *testing.T) {
	env := newPullEnv(t, Config{})
	var pushed store.Endpoint
	var secrets []string
	env.Update(func(tx store.Tx) (err error) {
		if _, err = store.AddMember(tx, "usr_ada", store.Member{OrgID: "org_acme", UserID: "usr_dee", Role: "member", Name: "Dée \u2028 \"<&>\" 😀"}); err != nil {
			return err
		}
		if pushed, err = tx.Endpoint("org_acme", "whe_open"); err != nil {
			return err
		}
		if _, err = store.RotateSecret(tx, "usr_ada", "org_acme", "whe_pull", "", time.Hour); err != nil {
			return err
		}
		e, err := tx.Endpoint("org_acme", "whe_pull")
		secrets = e.Secrets(tx.Now())
		return err
	})
	sent, err := env.Store.Claim(t.Context(), pushed.Number, env.Now(), 1)
	if err != nil || len(sent.Claims) != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	a := env.pull("whe_pull", "key_pull", "")
	if len(a.Deliveries) != 1 || !bytes.Equal([]byte(a.Deliveries[0].Body), sent.Claims[0].Body) {
		t.Fatalf("pulled %+v, pushed %s", a, sent.Claims[0].Body)
	}
	d := a.Deliveries[0]
	if d.Timestamp != strconv.FormatInt(env.Now().Unix(), 10) || len(secrets) != 2 || strings.Count(d.Signature, "v1,") != 2 {
		t.Errorf("%+v with %d secrets", d, len(secrets))
	}
	for _, secret := range secrets {
		verifier, err := teamdata.NewVerifier(secret)
		if err != nil {
			t.Fatal(err)
		}
		verifier.Now = env.Now
		header := http.Header{"Webhook-Id": {d.ID}, "Webhook-Timestamp": {d.Timestamp}, "Webhook-Signature": {d.Signature}}
		if _, err := verifier.Verify(header, []byte(d.Body)); err != nil {
			t.Errorf("not verified: %v", err)
		}
	}
}

// Each refusal has its error, and changes nothing.
func TestPullRefusals(t *testing.T) {
	env := newPullEnv(t, Config{})
	ids := env.send("whe_pull", 3)
	pushed := env.send("whe_open", 1)[0]
	theirs := env.send("whe_second", 1)[0]
	leased := env.pull("whe_pull", "key_pull", `{"limit":2,"leaseSeconds":5}`).Deliveries
	env.Advance(5 * time.Second)
	current := env.pull("whe_pull", "key_pull", `{"limit":1}`).Deliveries[0]
	before := env.rowsOf()
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	of := func(id, lease string) string { return `{"id":"` + id + `","lease":"` + lease + `"}` }
	for _, row := range []struct {
		name, path, key, body string
		want                  store.Code
		says                  string
	}{
		{"no key", "whe_pull", "", "", store.CodeUnauthorized, "missing"},
		{"a revoked key", "whe_pull", "key_gone", "", store.CodeUnauthorized, "revoked"},
		{"an unknown key", "whe_pull", "key_none", "", store.CodeUnauthorized, "not valid"},
		{"a read key", "whe_pull", "key_read", "", store.CodeForbidden, "lacks the scope receive"},
		{"a write key", "whe_pull", "key_write", "", store.CodeForbidden, "lacks the scope receive"},
		{"a key of both", "whe_pull/ack", "key_both", "", store.CodeForbidden, "lacks the scope receive"},
		{"another endpoint's key", "whe_pull", "key_second", "", store.CodeForbidden, "may not pull from this endpoint"},
		{"another endpoint's key acknowledges", "whe_pull/ack", "key_second", `{"ids":["` + ids[0] + `"]}`, store.CodeForbidden, "may not pull"},
		{"another org's key", "whe_pull", "key_teampull", "", store.CodeNotFound, "no such webhook endpoint"},
		{"another org's endpoint", "whe_teampull", "key_pull", "", store.CodeNotFound, "no such webhook endpoint"},
		{"an unknown endpoint", "whe_none", "key_pull", "", store.CodeNotFound, "no such webhook endpoint"},
		{"a plan without webhooks", "whe_pull", "key_readerspull", "", store.CodeUpgradeRequired, "does not include webhooks"},
		{"a push endpoint", "whe_open", "key_pull", "", store.CodeConflict, "can't be pulled"},
		{"a push endpoint's ack", "whe_open/ack", "key_pull", `{"ids":["` + pushed + `"]}`, store.CodeConflict, "can't be pulled"},
		{"a disabled endpoint", "whe_shut", "key_pull", "", store.CodeConflict, "disabled"},
		{"a disabled endpoint, with an ack", "whe_shut", "key_pull", `{"ack":["` + ids[0] + `"]}`, store.CodeConflict, "disabled"},
		{"limit 0", "whe_pull", "key_pull", `{"limit":0}`, store.CodeBadRequest, "limit: is 0; a whole number from 1 to 100"},
		{"limit 101", "whe_pull", "key_pull", `{"limit":101}`, store.CodeBadRequest, "limit: is 101"},
		{"half a limit", "whe_pull", "key_pull", `{"limit":1.5}`, store.CodeBadRequest, "limit: is 1.5"},
		{"wait -1", "whe_pull", "key_pull", `{"waitSeconds":-1}`, store.CodeBadRequest, "waitSeconds: is -1; a whole number from 0 to 60"},
		{"wait 61", "whe_pull", "key_pull", `{"waitSeconds":61}`, store.CodeBadRequest, "waitSeconds: is 61"},
		{"lease 4", "whe_pull", "key_pull", `{"leaseSeconds":4}`, store.CodeBadRequest, "leaseSeconds: is 4; a whole number from 5 to 3600"},
		{"lease 3601", "whe_pull", "key_pull", `{"leaseSeconds":3601}`, store.CodeBadRequest, "leaseSeconds: is 3601"},
		{"an unknown field", "whe_pull", "key_pull", `{"waitSecond":1}`, store.CodeBadRequest, `did you mean \"waitSeconds\"?`},
		{"no object", "whe_pull", "key_pull", `[]`, store.CodeBadRequest, "an object is expected"},
		{"half an object", "whe_pull", "key_pull", `{"limit":`, store.CodeBadRequest, ""},
		{"1001 acks", "whe_pull", "key_pull", `{"ack":[` + many(1001, `"`+ids[0]+`"`) + `]}`, store.CodeBadRequest, "ack: has 1001 deliveries"},
		{"an ack of a push", "whe_pull", "key_pull", `{"ack":["` + ids[0] + `","` + pushed + `"]}`, store.CodeBadRequest, `ack: \"` + pushed + `\" is not a delivery of this endpoint`},
		{"an ack of another endpoint's", "whe_pull/ack", "key_pull", `{"ids":["` + ids[0] + `","` + theirs + `"]}`, store.CodeBadRequest, `ids: \"` + theirs},
		{"an ack of none", "whe_pull/ack", "key_pull", `{"ids":["` + ids[0] + `","whd_none"]}`, store.CodeBadRequest, `ids: \"whd_none`},
		{"no ids", "whe_pull/ack", "key_pull", "", store.CodeBadRequest, ""},
		{"ids that are left out", "whe_pull/ack", "key_pull", `{}`, store.CodeBadRequest, "ids: is missing"},
		{"an empty list", "whe_pull/ack", "key_pull", `{"ids":[]}`, store.CodeBadRequest, "ids: has 0 deliveries; 1 to 1000"},
		{"1001 ids", "whe_pull/ack", "key_pull", `{"ids":[` + many(1001, `"`+ids[0]+`"`) + `]}`, store.CodeBadRequest, "ids: has 1001"},
		{"a body past 64 KiB", "whe_pull/ack", "key_pull", strings.Repeat(" ", maxBody+1), store.CodePayloadTooLarge, "larger than 65536 bytes"},
		{"an ended lease", "whe_pull/nack", "key_pull", `{"deliveries":[` + of(leased[1].ID, leased[1].Lease) + `]}`, store.CodeConflict, "The lease of " + leased[1].ID + " has ended"},
		{"an earlier lease", "whe_pull/nack", "key_pull", `{"deliveries":[` + of(current.ID, leased[0].Lease) + `]}`, store.CodeConflict, "has ended"},
		{"one of two ended", "whe_pull/extend", "key_pull", `{"deliveries":[` + of(current.ID, current.Lease) + "," + of(leased[1].ID, leased[1].Lease) + `]}`, store.CodeConflict, leased[1].ID},
		{"a lease of what waits", "whe_pull/extend", "key_pull", `{"deliveries":[` + of(ids[2], current.Lease) + `]}`, store.CodeConflict, ids[2]},
		{"given twice", "whe_pull/nack", "key_pull", `{"deliveries":[` + of(current.ID, current.Lease) + "," + of(current.ID, current.Lease) + `]}`, store.CodeBadRequest, "given twice"},
		{"a long reason", "whe_pull/nack", "key_pull", `{"deliveries":[` + of(current.ID, current.Lease) + `],"reason":"` + strings.Repeat("x", 301) + `"}`, store.CodeBadRequest, "reason: "},
		{"a delay past a day", "whe_pull/nack", "key_pull", `{"deliveries":[` + of(current.ID, current.Lease) + `],"delaySeconds":86401}`, store.CodeBadRequest, "delaySeconds: is 86401"},
		{"no deliveries", "whe_pull/nack", "key_pull", `{"deliveries":[]}`, store.CodeBadRequest, "deliveries: has 0"},
		{"a delivery without its lease", "whe_pull/nack", "key_pull", `{"deliveries":[` + of(current.ID, current.Lease) + `,{"id":"` + ids[0] + `"}]}`, store.CodeBadRequest, "deliveries[1].lease: is missing"},
		{"a lease without its delivery", "whe_pull/extend", "key_pull", `{"deliveries":[` + of("", current.Lease) + `]}`, store.CodeBadRequest, "deliveries[0].id: is missing"},
		{"101 leases", "whe_pull/extend", "key_pull", `{"deliveries":[` + many(101, of(current.ID, current.Lease)) + `]}`, store.CodeBadRequest, "deliveries: has 101 deliveries; 1 to 100"},
		{"lease of 4 more seconds", "whe_pull/extend", "key_pull", `{"deliveries":[` + of(current.ID, current.Lease) + `],"leaseSeconds":4}`, store.CodeBadRequest, "leaseSeconds: is 4"},
	} {
		answer := env.do(pullRequestOf(row.path, row.key, row.body))
		if answer.Code != row.want.Status() || !strings.Contains(answer.Body.String(), row.says) || !strings.Contains(answer.Body.String(), `"code":"`+string(row.want)+`"`) {
			t.Errorf("%s: got %d %s, want %s %s", row.name, answer.Code, answer.Body, row.want, row.says)
		}
		if after := env.rowsOf(); after != before {
			t.Errorf("%s: something changed", row.name)
			before = after
		}
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH"} {
		for _, path := range []string{"whe_pull", "whe_pull/ack", "whe_pull/nack", "whe_pull/extend"} {
			answer := env.do(newRequest(method, "/pull/"+path, "key_pull"))
			if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "POST" {
				t.Errorf("%s %s: got %d, %q", method, path, answer.Code, answer.Header().Get("Allow"))
			}
		}
	}
	for _, path := range []string{"/pull", "/pull/", "/pull/whe_pull/other", "/pull//ack", "/pull/whe_pull/ack/"} {
		wantError(t, env.do(newRequest("POST", path, "key_pull")), store.CodeNotFound)
	}
	wantError(t, env.do(newRequest("POST", "/pull/whe_pull", "key_pull", "API-Version", "2020-01-01")), store.CodeBadRequest)
	env.server.stopping.Store(true)
	wantError(t, env.do(newRequest("POST", "/pull/whe_pull", "key_pull")), store.CodeUnavailable)
	if env.rowsOf() != before {
		t.Error("something changed")
	}
}

// The bounds themselves are taken, and so are null and no body at all.
func TestPullBounds(t *testing.T) {
	env := newPullEnv(t, Config{})
	ids := env.send("whe_pull", 130)
	quoted := `"` + strings.Join(ids, `","`) + `"`
	env.wantPulled(env.pull("whe_pull", "key_pull", `{"limit":1,"leaseSeconds":5,"waitSeconds":60,"ack":[]}`), ids[:1]...)
	env.wantPulled(env.pull("whe_pull", "key_pull", `{"limit":100,"leaseSeconds":3600,"waitSeconds":0}`), ids[1:101]...)
	env.wantPulled(env.pull("whe_pull", "key_pull", `{"limit":null,"leaseSeconds":null,"waitSeconds":null,"ack":null}`), ids[101:]...)
	env.Advance(time.Hour)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""), ids[:50]...)
	// 1,000 at once, each as often as you like.
	if a := env.pull("whe_pull/ack", "key_pull", `{"ids":[`+strings.Repeat(quoted+",", 7)+`"`+strings.Join(ids[:90], `","`)+`"]}`); a.code != http.StatusOK {
		t.Errorf("1,000 acknowledgments: %+v", a)
	}
	env.Advance(time.Hour)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""))
	for range 2 { // again, late and without a lease
		if a := env.pull("whe_pull/ack", "key_pull", `{"ids":[`+quoted+`]}`); a.code != http.StatusOK || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("acknowledged again: %+v", a)
		}
	}
	env.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_pull") })
	if a := env.pull("whe_pull/ack", "key_pull", `{"ids":[`+quoted+`]}`); a.code != http.StatusOK {
		t.Errorf("an acknowledgment at a disabled endpoint: %+v", a)
	}
}

// What is given back comes again by the schedule, or after the delay that is named.
func TestNack(t *testing.T) {
	env := newPullEnv(t, Config{})
	id := env.send("whe_pull", 1)[0]
	nack := func(more string) {
		t.Helper()
		d := env.pull("whe_pull", "key_pull", "").Deliveries
		if len(d) != 1 {
			t.Fatalf("pulled %+v", d)
		}
		if a := env.pull("whe_pull/nack", "key_pull", `{"deliveries":[{"id":"`+id+`","lease":"`+d[0].Lease+`"}]`+more+`}`); a.code != http.StatusOK {
			t.Fatalf("%+v", a)
		}
	}
	nack(`,"reason":"not now"`)
	env.Advance(time.Minute - time.Millisecond)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""))
	env.Advance(time.Millisecond)
	nack(`,"delaySeconds":86400`)
	env.Advance(24*time.Hour - time.Millisecond)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""))
	env.Advance(time.Millisecond)
	for range 4 {
		nack(`,"delaySeconds":0`)
	}
	env.wantPulled(env.pull("whe_pull", "key_pull", ""))
	env.View(func(tx store.Tx) error {
		d, err := tx.Delivery(id)
		if err != nil || d.State != store.StateFailed || d.History[0].Reason != "not now" || d.History[0].KeyID != "key_pull" {
			t.Errorf("%+v, %v", d, err)
		}
		e, err := tx.Endpoint("org_acme", "whe_pull")
		if e.Disabled() {
			t.Error("the endpoint is disabled")
		}
		return err
	})
}

// An extended lease ends later, and its delivery is signed anew.
func TestExtend(t *testing.T) {
	env := newPullEnv(t, Config{})
	ids := env.send("whe_pull", 2)
	d := env.pull("whe_pull", "key_pull", `{"leaseSeconds":60}`).Deliveries
	env.Advance(59 * time.Second)
	a := env.pull("whe_pull/extend", "key_pull", `{"deliveries":[{"id":"`+ids[0]+`","lease":"`+d[0].Lease+`"}],"leaseSeconds":300}`)
	env.wantPulled(a, ids[0])
	if x := a.Deliveries[0]; x.Lease != d[0].Lease || !x.LeaseEndsAt.Equal(env.Now().Add(5*time.Minute)) || x.Timestamp == d[0].Timestamp || x.Signature == d[0].Signature || x.Body != d[0].Body {
		t.Errorf("extended %+v\nof %+v", x, d[0])
	}
	env.Advance(time.Second)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""), ids[1])
	env.Advance(5*time.Minute - time.Second)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""), ids...)
}

// The key has a limit of its own for pulling, and the client's counts only requests without a
// key that is accepted.
func TestPullLimits(t *testing.T) {
	env := newPullEnv(t, Config{KeyRate: 1, PullRate: 3, ClientRate: 2})
	for i := range 3 {
		a := env.pull("whe_pull", "key_pull", "")
		if want := fmt.Sprintf(`"pull";r=%d;t=60`, 2-i); a.code != http.StatusOK || !slices.Equal(a.header["RateLimit"], []string{want}) || !slices.Equal(a.header["RateLimit-Policy"], []string{`"pull";q=3;w=60`}) {
			t.Errorf("request %d: %d %v", i, a.code, a.header)
		}
	}
	if a := env.pull("whe_pull/ack", "key_pull", `{"ids":["a"]}`); a.code != http.StatusTooManyRequests || a.header.Get("Retry-After") != "60" {
		t.Errorf("past the limit: %+v", a)
	}
	if a := env.pull("whe_pull", "key_second", ""); a.code != http.StatusForbidden { // has its own
		t.Errorf("another key: %+v", a)
	}
	for _, want := range []store.Code{store.CodeUnauthorized, store.CodeUnauthorized, store.CodeRateLimited} {
		if a := env.pull("whe_pull", "key_none", ""); a.Error.Code != string(want) {
			t.Errorf("a key that is refused: %+v, want %s", a, want)
		}
	}
	if a := env.pull("whe_second", "key_second", ""); a.code != http.StatusOK {
		t.Errorf("beyond the client's limit: %+v", a)
	}
	env.Advance(time.Minute)
	env.wantPulled(env.pull("whe_pull", "key_pull", ""))
	if a := env.do(newRequest("GET", "/api/v1/members", "key_read")); a.Code != http.StatusOK {
		t.Errorf("the other limit: %d", a.Code)
	}
}

// A pull that finds nothing commits nothing, but that somebody pulls, each 10 s.
func TestIdlePullsCommitLittle(t *testing.T) {
	env := newPullEnv(t, Config{})
	commits := 0
	env.server.store = counting{env.server.store, &commits}
	for range 25 {
		env.wantPulled(env.pull("whe_pull", "key_pull", ""))
		env.Advance(time.Second)
	}
	if commits != 3 {
		t.Errorf("25 pulls in 25 s made %d Updates, want 3", commits)
	}
}

// counting counts Updates.
type counting struct {
	store.Store
	n *int
}

func (c counting) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	*c.n++
	return c.Store.Update(ctx, scope, fn)
}
