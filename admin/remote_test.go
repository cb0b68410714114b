package admin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
)

// remote is a client of the environment's Admin over TLS, on HTTP/2.
func (env *testEnv) remote() func(method, path, body string, header ...string) kit.Answer {
	s := httptest.NewUnstartedServer(env.watched(env.admin.Remote()))
	s.EnableHTTP2 = true
	s.StartTLS()
	env.Cleanup(s.Close)
	client := s.Client()
	transport := client.Transport.(*http.Transport)
	client.Transport = rewrite{transport, strings.TrimPrefix(s.URL, "https://")}
	return func(method, path, body string, header ...string) kit.Answer {
		env.Helper()
		return ask(env, client, method, path, body, header...)
	}
}

// rewrite sends every request to a TLS server.
type rewrite struct {
	http.RoundTripper
	host string
}

func (t rewrite) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "https", t.host
	return t.RoundTripper.RoundTrip(r)
}

// Over HTTPS nothing is answered without an operator token.
func TestEveryRouteAsksForAToken(t *testing.T) {
	env := newTestEnv(t)
	do := env.remote()
	before := env.everything()
	for _, o := range operations {
		o = o.in(env)
		got := do(o.method, o.path, o.body)
		env.wantError(got, store.CodeUnauthorized, "The operator token is missing.")
		equal(t, "WWW-Authenticate", got.Header.Get("WWW-Authenticate"), "Bearer")
		env.wantHeaders(got)
	}
	env.wantError(do("GET", "/none", ""), store.CodeNotFound, "There is no such route.")
	equal(t, "everything", env.everything(), before)
}

func TestTokens(t *testing.T) {
	env := newTestEnv(t)
	do := env.remote()
	asked := func(values ...string) kit.Answer {
		var header []string
		for _, value := range values {
			header = append(header, "Authorization", value)
		}
		return do("GET", "/orgs/org_acme", "", header...)
	}
	for _, right := range []string{"Bearer opr_1.t0ken", "bearer  opr_1.t0ken"} {
		env.wantAnswer(asked(right), 200, acme)
	}
	for _, wrong := range [][]string{
		{""}, {"Bearer"}, {"Bearer "}, {"Bearer opr_1"}, {"Bearer opr_1."}, {"Bearer .t0ken"}, {"Bearer opr_1.wrong"}, {"Bearer opr_2.t0ken"},
		{"Basic opr_1.t0ken"}, {"opr_1.t0ken"}, {"Bearer opr_1.t0ken x"}, {"Bearer opr_1.t0ken", "Bearer opr_1.t0ken"},
		{"Bearer key_1.s3cret"}, {"Bearer opr_1.s3cret"},
	} {
		got := asked(wrong...)
		env.wantError(got, store.CodeUnauthorized, "The operator token is ")
		equal(t, "WWW-Authenticate", got.Header.Get("WWW-Authenticate"), "Bearer")
	}
}

// An operator token is no API key.
func TestTokenIsNoKey(t *testing.T) {
	env := newTestEnv(t)
	env.View(func(tx store.Tx) error {
		if _, err := store.LoadAccess(tx, "opr_1"); !store.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
		return nil
	})
}

// A token works until it expires or is revoked, and not a request longer.
func TestTokensEnd(t *testing.T) {
	env := newTestEnv(t)
	do := env.remote()
	made := env.do("POST", "/operator-tokens", `{"name":"hour","expiresAt":"2026-10-06T13:00:00Z"}`)
	token := "Bearer " + strings.Split(made.Body, `"`)[len(strings.Split(made.Body, `"`))-2]
	status := func(header string) int { return do("GET", "/orgs", "", "Authorization", header).Status }
	env.Advance(time.Hour - time.Millisecond)
	equal(t, "a millisecond before", status(token), 200)
	env.Advance(time.Millisecond)
	equal(t, "expired", status(token), 401)
	const other = "Bearer opr_1.t0ken"
	equal(t, "the other", status(other), 200)
	equal(t, "it revokes itself", do("DELETE", "/operator-tokens/opr_1", "", "Authorization", other).Status, 204)
	equal(t, "revoked", status(other), 401)
}

// A backup has no deadline but that of a client that takes nothing.
func TestRemoteBackup(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t)
	env.large()
	got := env.remote()("GET", "/backup", "", "Authorization", "Bearer opr_1.t0ken")
	equal(t, "status", got.Status, 200)
	equal(t, "Teamdata-Backup-Size", got.Header.Get("Teamdata-Backup-Size"), strconv.Itoa(len(got.Body)))
	if len(got.Body) < 8<<20 {
		t.Errorf("%d bytes", len(got.Body))
	}
	env.wantNoFiles()
}

// A change over HTTPS is logged with its token; neither is a secret.
func TestLogOfChanges(t *testing.T) {
	env := newTestEnv(t)
	do := env.remote()
	got := do("POST", "/orgs/org_acme/endpoints", `{"url":"https://a.example/s3cretpath","events":["member.added"]}`, "Authorization", "Bearer opr_1.t0ken")
	env.wantAnswer(got, 201, "{{*}}")
	equal(t, "log", env.LogOutput.String(), `{"level":"info","method":"POST","path":"/admin/v1/orgs/org_acme/endpoints","status":201,"token":"opr_1","message":"changed"}`+"\n")
}

// Only the operator, on the socket, is told why the storage can't be used.
func TestWhyUnavailable(t *testing.T) {
	env := newTestEnv(t)
	do := env.remote()
	fault := errors.New("no space left on device")
	env.failing.Store(&fault)
	got := env.do("PATCH", "/orgs/org_acme", `{"name":"N"}`)
	env.wantError(got, store.CodeUnavailable, "The storage can't be used right now: ")
	if !strings.Contains(got.Body, "no space left on device") {
		t.Errorf("the socket answered %s", got.Body)
	}
	got = do("PATCH", "/orgs/org_acme", `{"name":"N"}`, "Authorization", "Bearer opr_1.t0ken")
	env.wantError(got, store.CodeUnavailable, "The storage can't be used right now. Try again later.")
	if strings.Contains(got.Body, "no space") {
		t.Errorf("a client over HTTPS was answered %s", got.Body)
	}
}

// A fault of the storage is never a 401, and is logged.
func TestFaultsAreLogged(t *testing.T) {
	env := newTestEnv(t)
	fault := errors.New("no space left on device")
	env.failing.Store(&fault)
	env.wantError(env.do("PATCH", "/orgs/org_acme", `{"name":"N"}`), store.CodeUnavailable, "")
	if log := env.LogOutput.String(); !strings.Contains(log, "no space left on device") || !strings.Contains(log, `"level":"error"`) {
		t.Error(log)
	}
	do := env.remote()
	env.Store.Close()
	env.wantError(do("GET", "/orgs", "", "Authorization", "Bearer opr_1.t0ken"), store.CodeUnavailable, "")
}

// A panic is a 500 that says nothing, and is in the log.
func TestPanic(t *testing.T) {
	env := newTestEnv(t)
	env.admin.config.Status = nil
	env.wantError(env.do("GET", "/status", ""), store.CodeInternal, "Something went wrong")
	if log := env.LogOutput.String(); !strings.Contains(log, "nil pointer") || !strings.Contains(log, "readStatus") {
		t.Error(log)
	}
}
