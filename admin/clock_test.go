package admin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// envClock is the clock of an environment, which it moves without sending anything.
type envClock struct {
	*testEnv
	resets []string // the tokens to keep, one a reset
	err    error    // what a move and a reset fail with
}

func (c *envClock) Advance(_ context.Context, by time.Duration) error {
	c.testEnv.Advance(by)
	return c.err
}

func (c *envClock) Reset(_ context.Context, tokenID string) error {
	c.resets = append(c.resets, tokenID)
	return c.err
}

func newClockEnv(t *testing.T) *envClock {
	t.Helper()
	env := newTestEnv(t)
	clock := &envClock{testEnv: env}
	env.admin.config.TestClock = clock
	env.client = socketClient(t, env.watched(env.admin.Local()))
	return clock
}

const (
	testClock     = "Teamdata-Test-Clock"
	operatorToken = "Bearer opr_1.t0ken"
)

// Without a test clock nothing says that there is one, and nobody can move or reset
// anything.
func TestNoTestClock(t *testing.T) {
	env := newTestEnv(t)
	remote := env.remote()
	before := env.everything()
	for _, rt := range testRoutes {
		for _, method := range []string{rt.method, "PUT"} {
			got := env.do(method, rt.path, `{"advanceSeconds":60}`)
			env.wantError(got, store.CodeNotFound, "There is no such route.")
			equal(t, testClock, got.Header.Get(testClock), "")
			env.wantError(remote(method, rt.path, `{"advanceSeconds":60}`, "Authorization", operatorToken), store.CodeNotFound, "There is no such route.")
		}
	}
	equal(t, testClock, env.do("GET", "/status", "").Header.Get(testClock), "")
	equal(t, "everything", env.everything(), before)
}

func TestTestClock(t *testing.T) {
	env := newClockEnv(t)
	env.wantAnswer(env.do("GET", "/clock", ""), 200, `{"now":`+at+`}`)
	moved := env.do("POST", "/clock", `{"advanceSeconds":46800}`)
	env.wantAnswer(moved, 200, `{"now":"2026-10-07T01:00:00.000Z"}`)
	for _, path := range []string{"/clock", "/status", "/none"} {
		equal(t, path, env.do("GET", path, "").Header.Get(testClock), "2026-10-07T01:00:00.000Z")
	}
	equal(t, "the answer itself", moved.Header.Get(testClock), "2026-10-07T01:00:00.000Z")

	for _, none := range []string{"", "{}", `{"advanceSeconds":null}`, `{"advanceSeconds":0}`} {
		env.wantAnswer(env.do("POST", "/clock", none), 200, `{"now":"2026-10-07T01:00:00.000Z"}`)
	}
	for body, message := range map[string]string{
		`{"advanceSeconds":-60}`:       "advanceSeconds: is -60; a whole number from 0 to 316224000 is expected",
		`{"advanceSeconds":1.5}`:       "advanceSeconds: is 1.5;",
		`{"advanceSeconds":"13h"}`:     "advanceSeconds: is a string;",
		`{"advanceSeconds":316224001}`: "advanceSeconds: is 316224001;",
		`{"advanceHours":13}`:          "advanceHours: unknown field; the only field is advanceSeconds",
	} {
		env.wantError(env.do("POST", "/clock", body), store.CodeBadRequest, message)
	}
	equal(t, "moved", env.Now().Sub(kit.Noon), 13*time.Hour)
}

// The clock ends before times can no longer be written.
func TestEndOfTheTestClock(t *testing.T) {
	env := newClockEnv(t)
	for env.Now().Year() < 2289 {
		env.wantAnswer(env.do("POST", "/clock", `{"advanceSeconds":316224000}`), 200, `{"now":"{{*}}"}`)
	}
	env.wantError(env.do("POST", "/clock", `{"advanceSeconds":316224000}`), store.CodeBadRequest, "advanceSeconds: is too far")
	env.wantAnswer(env.do("POST", "/clock", `{"advanceSeconds":1}`), 200, `{"now":"22{{*}}"}`)
}

// A move that is repeated under its key is made once.
func TestRepeatedMove(t *testing.T) {
	env := newClockEnv(t)
	first := env.do("POST", "/clock", `{"advanceSeconds":60}`, "Idempotency-Key", "k")
	again := env.do("POST", "/clock", `{"advanceSeconds":60}`, "Idempotency-Key", "k")
	equal(t, "the answer", again.Body, first.Body)
	equal(t, "Idempotent-Replayed", again.Header.Get("Idempotent-Replayed"), "true")
	equal(t, "moved", env.Now().Sub(kit.Noon), time.Minute)
	env.wantError(env.do("POST", "/clock", `{"advanceSeconds":61}`, "Idempotency-Key", "k"), store.CodeIdempotencyMismatch, "")
}

func TestReset(t *testing.T) {
	env := newClockEnv(t)
	env.wantAnswer(env.do("POST", "/reset", ""), 200, `{"now":`+at+`}`)
	env.wantAnswer(env.do("POST", "/reset", "{}"), 200, `{"now":`+at+`}`)
	env.wantError(env.do("POST", "/reset", `{"seed":"x"}`), store.CodeBadRequest, "")
	equal(t, "resets", len(env.resets), 2)
}

// Clients are not told what went wrong, and what failed does not count as done.
func TestFailingTestClock(t *testing.T) {
	env := newClockEnv(t)
	env.err = errors.New("/srv/seed.json is on fire")
	for path, body := range map[string]string{"/clock": `{"advanceSeconds":1}`, "/reset": ""} {
		env.wantError(env.do("POST", path, body, "Idempotency-Key", path), store.CodeInternal, "Something went wrong in the server.")
	}
	if !strings.Contains(env.LogOutput.String(), "on fire") {
		t.Errorf("the log says\n%s", env.LogOutput)
	}
}

// Over HTTPS the clock takes an operator token, as all else does.
func TestRemoteTestClock(t *testing.T) {
	env := newClockEnv(t)
	do := env.remote()
	for _, rt := range testRoutes {
		env.wantError(do(rt.method, rt.path, `{"advanceSeconds":60}`), store.CodeUnauthorized, "The operator token is missing.")
	}
	equal(t, "resets", len(env.resets), 0)
	env.wantAnswer(do("POST", "/clock", `{"advanceSeconds":60}`, "Authorization", operatorToken), 200, `{"now":"2026-10-06T12:01:00.000Z"}`)
	env.wantAnswer(do("POST", "/reset", "", "Authorization", operatorToken), 200, `{"now":"2026-10-06T12:01:00.000Z"}`)
	equal(t, "the tokens kept", strings.Join(env.resets, " "), "opr_1")
}
