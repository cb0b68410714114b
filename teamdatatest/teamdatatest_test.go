package teamdatatest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"teamdata/app"
	"teamdata/store"
	"teamdata/teamdatatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// acme is an org with an endpoint.
func acme() teamdatatest.Option {
	return teamdatatest.Org("org_acme", teamdatatest.Endpoint("whe_1"))
}

const addBob = `{"userId":"usr_bob","role":"member"}`

// get requests a path of the API.
func get(t testing.TB, srv *teamdatatest.Server, key, path string) (status int, body string) {
	t.Helper()
	answer, err := srv.Client(key).Get(srv.URL + "/api/v1" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// outage is the story of a receiver that is down for longer than the schedule.
func outage(t testing.TB) {
	srv := teamdatatest.Start(t, acme())
	srv.Receiver().Answer(503)
	start := srv.Now()
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	srv.Advance(14 * time.Hour)
	sent := srv.Deliveries("org_acme", "whe_1")
	if len(sent) != 1 || sent[0].State != store.StateFailed || len(sent[0].History) != 6 {
		t.Fatalf("the deliveries are %+v", sent)
	}
	var after []time.Duration
	for _, e := range srv.Receiver().Events() {
		after = append(after, e.Timestamp.Sub(start.Truncate(time.Second)))
	}
	want := []time.Duration{0, time.Minute, 6 * time.Minute, 31 * time.Minute, 156 * time.Minute, 781 * time.Minute}
	if fmt.Sprint(after) != fmt.Sprint(want) {
		t.Errorf("the attempts were made after %v, not %v", after, want)
	}
	if mails := srv.Mails(); len(mails) != 1 || mails[0].To != "usr_owner@example.com" || !strings.Contains(mails[0].Text, "whe_1") {
		t.Errorf("the mails are %+v", mails)
	}
	srv.Admin("POST", "/orgs/org_acme/files", `{"name":"a.txt","contentType":"text/plain","size":1}`)
	if held := srv.Deliveries("org_acme", "whe_1"); len(held) != 2 || held[1].State != store.StateHeld {
		t.Errorf("after that one is %s", held[len(held)-1].State)
	}
	srv.Receiver().Answer(204)
	srv.Admin("POST", "/orgs/org_acme/endpoints/whe_1/enable", "")
	srv.Admin("POST", "/orgs/org_acme/deliveries/"+sent[0].ID+"/replay", "")
	srv.Advance(0)
	for _, d := range srv.Deliveries("org_acme", "whe_1") {
		if d.State != store.StateAcknowledged {
			t.Errorf("%s is %s", d.ID, d.State)
		}
	}
	if n := len(srv.Receiver().Events()); n != 8 {
		t.Errorf("%d webhooks came", n)
	}
}

func TestOutage(t *testing.T) {
	t.Parallel()
	outage(t)
}

// Endpoints of a test select as those of a server do: types, groups, or all.
func TestSelections(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, teamdatatest.Org("org_acme", teamdatatest.Endpoint("whe_1", "member.*"), teamdatatest.Endpoint("whe_2", "*")))
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	srv.Admin("POST", "/orgs/org_acme/files", `{"name":"a.txt","contentType":"text/plain","size":1}`)
	srv.Advance(0)
	if group, all := srv.Deliveries("org_acme", "whe_1"), srv.Deliveries("org_acme", "whe_2"); len(group) != 1 || len(all) != 2 {
		t.Errorf("a group got %+v, all is %+v", group, all)
	}
}

// Who changes a member is told by a webhook what was different before; a change that
// leaves all as it was sends nothing.
func TestMemberChanged(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, acme(), teamdatatest.Org("org_six", teamdatatest.Endpoint("whe_6", "member.added", "member.removed", "subscription.changed", "file.uploaded", "assistant.instructionsChanged", "webhook.test")))
	for _, org := range []string{"org_acme", "org_six"} {
		path := "/orgs/" + org + "/members"
		srv.Admin("POST", path, addBob)
		srv.Admin("PUT", path+"/usr_bob", `{"role":"member"}`)
		srv.Admin("POST", path+"/batch", `{"upsert":true,"members":[{"userId":"usr_bob","role":"admin","email":"bob@example.com"}]}`)
		srv.Admin("PATCH", path+"/usr_bob", `{"role":"admin"}`)
		srv.Admin("DELETE", path+"/usr_bob", "")
		srv.Advance(0)
	}
	var types, changed []string
	for _, e := range srv.Receiver().Events() {
		types = append(types, e.OrgID+" "+e.Type)
		if e.Type == "member.changed" {
			changed = append(changed, string(e.Data))
		}
	}
	slices.Sort(types) // those of an org are sent concurrently
	if got, want := strings.Join(types, ", "), "org_acme member.added, org_acme member.changed, org_acme member.removed, org_six member.added, org_six member.removed"; got != want {
		t.Errorf("sent were\n%s\nwant\n%s", got, want)
	}
	id := regexp.MustCompile(`mem_\w+`)
	want := `{"orgId":"org_acme","memberId":"ID","userId":"usr_bob","role":"admin","name":"","email":"bob@example.com","previous":{"role":"member","email":""}}`
	if got := id.ReplaceAllString(strings.Join(changed, ""), "ID"); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

// TestManyServers: tests that run in parallel don't meet.
func TestManyServers(t *testing.T) {
	for i := range 100 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			outage(t)
		})
	}
}

// TestNext: webhooks come in order, in real time, with what they are about.
func TestNext(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, acme())
	srv.Receiver().Answer(503, 204)
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	first := srv.Receiver().Next(t.Context())
	var data struct{ UserID string }
	if err := json.Unmarshal(first.Data, &data); err != nil || data.UserID != "usr_bob" || first.Type != "member.added" ||
		first.OrgID != "org_acme" || first.EndpointID != "whe_1" || first.Status != 503 {
		t.Errorf("it is %+v\n%s", first, first.Body)
	}
	srv.Advance(time.Minute)
	if again := srv.Receiver().Next(t.Context()); again.ID != first.ID || again.Status != 204 || again.Timestamp.Sub(first.Timestamp) != time.Minute {
		t.Errorf("after %+v came %+v", first, again)
	}
}

// TestExpiry: what expires does so by the server's clock, to the instant.
func TestExpiry(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, acme(), teamdatatest.Settings(func(s *app.Settings) { s.KeyRate = 2 }))
	var made struct{ Key string }
	made.Key = ""
	answer := srv.Admin("POST", "/orgs/org_acme/keys", fmt.Sprintf(
		`{"scopes":["read","write"],"createdBy":"usr_owner","expiresAt":%q}`, store.FormatTime(srv.Now().Add(25*time.Hour))))
	if err := json.Unmarshal(answer, &made); err != nil {
		t.Fatal(err)
	}
	is := func(what string, want int) {
		t.Helper()
		if status, body := get(t, srv, made.Key, "/members"); status != want {
			t.Errorf("%s it is answered with %d\n%s", what, status, body)
		}
	}
	is("at first", 200)
	is("at first", 200)
	is("with the limit used up", 429)
	srv.Advance(time.Minute - time.Millisecond)
	is("a millisecond before the end of the minute", 429)
	srv.Advance(time.Millisecond)
	is("after a minute", 200)

	test := func() (id string) {
		t.Helper()
		q, err := http.NewRequest("POST", srv.URL+"/api/v1/webhooks/whe_1/test", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Idempotency-Key", "once")
		answer, err := srv.Client(srv.Key("org_acme")).Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return string(text)
	}
	first := test()
	srv.Advance(24*time.Hour - time.Millisecond)
	if again := test(); again != first {
		t.Errorf("before 24 hours a replay is %s, not %s", again, first)
	}
	srv.Advance(time.Millisecond)
	if again := test(); again == first {
		t.Error("after 24 hours it is still replayed")
	}
	srv.Advance(59*time.Minute - time.Millisecond)
	is("a millisecond before it expires", 200)
	srv.Advance(time.Millisecond)
	is("expired", 401)
}

// TestRetention: finished deliveries are dropped after 30 days.
func TestRetention(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, acme())
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	srv.Advance(30 * 24 * time.Hour)
	if n := len(srv.Deliveries("org_acme", "whe_1")); n != 1 {
		t.Errorf("after 30 days there are %d deliveries", n)
	}
	srv.Advance(store.SweepEvery)
	if n := len(srv.Deliveries("org_acme", "whe_1")); n != 0 {
		t.Errorf("after that there are %d deliveries", n)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, acme(), teamdatatest.Fixture(`{"orgs":[{"id":"org_other","name":"Other"}]}`))
	_, before := get(t, srv, srv.Key("org_acme"), "/members")
	url := srv.URL
	for range 3 {
		srv.Receiver().Answer(503)
		srv.Admin("POST", "/orgs/org_acme/members", addBob)
		srv.Admin("POST", "/orgs", `{"id":"org_new","name":"New"}`)
		srv.Advance(13*time.Hour + time.Minute)
		now := srv.Now()
		srv.Reset()
		if _, after := get(t, srv, srv.Key("org_acme"), "/members"); strings.Contains(after, "usr_bob") || strings.Count(after, "userId") != strings.Count(before, "userId") {
			t.Errorf("the members are %s, and were %s", after, before)
		}
		if orgs := string(srv.Admin("GET", "/orgs", "")); strings.Contains(orgs, "org_new") || !strings.Contains(orgs, "org_other") {
			t.Errorf("the orgs are %s", orgs)
		}
		if len(srv.Deliveries("org_acme", "whe_1"))+len(srv.Mails())+len(srv.Receiver().Events()) > 0 || srv.URL != url || !srv.Now().Equal(now) {
			t.Error("something is left, or has moved")
		}
		srv.Receiver().Answer()
		srv.Admin("POST", "/orgs/org_acme/endpoints/whe_1/test", "")
		if e := srv.Receiver().Next(t.Context()); e.Type != "webhook.test" || e.Status != 204 {
			t.Errorf("after the reset %+v came", e)
		}
	}
}

// TestResetMidFlight: an attempt that is in flight during a reset leaves nothing.
func TestResetMidFlight(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}, 9), make(chan struct{})
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-end
		w.WriteHeader(503)
	}))
	defer receiver.Close()
	srv := teamdatatest.Start(t, teamdatatest.Trust(receiver.Certificate()),
		teamdatatest.Org("org_acme", teamdatatest.EndpointAt("whe_1", receiver.URL+"/hook", "webhook.test")))
	srv.Admin("POST", "/orgs/org_acme/endpoints/whe_1/test", "")
	<-begun
	go func() {
		defer close(end)
		for { // until the data is gone
			answer, err := srv.AdminClient().Get(teamdatatest.AdminURL + "/orgs/org_acme")
			if err != nil {
				t.Error(err)
				return
			}
			answer.Body.Close()
			if answer.StatusCode == http.StatusNotFound {
				return
			}
		}
	}()
	srv.Reset()
	srv.Advance(14 * time.Hour)
	if n := len(srv.Deliveries("org_acme", "whe_1")); n > 0 || len(begun) > 0 {
		t.Errorf("%d deliveries are left, and %d attempts were made", n, len(begun))
	}
}

// TestKeys: orgs are apart, and keys have their scopes.
func TestKeys(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t,
		teamdatatest.Org("org_acme", teamdatatest.Member("usr_ada", "owner"), teamdatatest.Key("key_w", "write")),
		teamdatatest.Org("org_free", teamdatatest.Plan("free")))
	for _, row := range []struct {
		key  string
		want int
	}{{srv.Key("org_acme"), 200}, {srv.Key("key_w"), 403}, {srv.Key("org_free"), 402}, {"", 401}} {
		if status, body := get(t, srv, row.key, "/members"); status != row.want {
			t.Errorf("%s is answered with %d, not %d\n%s", row.key, status, row.want, body)
		}
	}
	if _, body := get(t, srv, srv.Key("org_acme"), "/members"); strings.Contains(body, "usr_owner") || !strings.Contains(body, "usr_ada") {
		t.Errorf("the members are %s", body)
	}
}

// TestClocks: one runs, and one stands where it was told to.
func TestClocks(t *testing.T) {
	t.Parallel()
	srv := teamdatatest.Start(t, acme(), teamdatatest.ClockRuns())
	srv.Receiver().Answer(503)
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	begun, ahead := time.Now(), 14*time.Hour
	srv.Advance(ahead)
	if d := srv.Deliveries("org_acme", "whe_1")[0]; d.State != store.StateFailed {
		t.Errorf("by a clock that runs, it is %s after %d attempts", d.State, d.Attempts)
	}
	if now := srv.Now(); now.Before(begun.Add(ahead)) || now.After(time.Now().Add(ahead)) {
		t.Errorf("it is %s, not 14 hours from now", now)
	}
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	srv = teamdatatest.Start(t, acme(), teamdatatest.ClockAt(at))
	srv.Admin("POST", "/orgs/org_acme/members", addBob)
	if e := srv.Receiver().Next(t.Context()); !e.Timestamp.Equal(at) || !srv.Now().Equal(at) {
		t.Errorf("the clock is at %s, and the webhook of %s", srv.Now(), e.Timestamp)
	}
}

// failing is a test that is expected to fail.
type failing struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (f *failing) Helper()                   {}
func (f *failing) Cleanup(fn func())         { f.cleanups = append(f.cleanups, fn) }
func (f *failing) Error(args ...any)         { f.errors = append(f.errors, fmt.Sprint(args...)) }
func (f *failing) Errorf(s string, a ...any) { f.errors = append(f.errors, fmt.Sprintf(s, a...)) }

func (f *failing) Fatal(args ...any) {
	f.Error(args...)
	runtime.Goexit()
}

func (f *failing) Fatalf(s string, a ...any) {
	f.Errorf(s, a...)
	runtime.Goexit()
}

// run runs a test to its end, and returns what it failed with.
func (f *failing) run(test func()) []string {
	for _, step := range []func(){test, func() {
		for i := range f.cleanups {
			f.cleanups[len(f.cleanups)-1-i]()
		}
	}} {
		done := make(chan struct{})
		go func() { defer close(done); step() }()
		<-done
	}
	return f.errors
}

// TestFailures: what is wrong fails the test in words that name it.
func TestFailures(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]func(t *failing){
		`orgs[0].webhooks[0].events`: func(t *failing) {
			teamdatatest.Start(t, teamdatatest.Org("org_acme", teamdatatest.Endpoint("whe_1", "no.such.type")))
		},
		`orgs[0].nmae`: func(t *failing) { teamdatatest.Start(t, teamdatatest.Fixture(`{"orgs":[{"id":"o","nmae":"O"}]}`)) },
		"404":          func(t *failing) { teamdatatest.Start(t).Admin("GET", "/orgs/org_none", "") },
		"org_none":     func(t *failing) { teamdatatest.Start(t).Key("org_none") },
		"no such":      func(t *failing) { teamdatatest.Start(t, acme()).Deliveries("org_acme", "whe_2") },
		"forward":      func(t *failing) { teamdatatest.Start(t).Advance(-1) },
		"status 99":    func(t *failing) { teamdatatest.Start(t).Receiver().Answer(99) },
		"canceled":     func(t *failing) { teamdatatest.Start(t).Receiver().Next(cancelled(t)) },
		"no signature matches": func(t *failing) {
			srv := teamdatatest.Start(t, acme())
			srv.Admin("POST", "/orgs/org_acme/members", addBob)
			forge(t, srv, srv.Receiver().Next(t.Context()))
		},
	} {
		f := &failing{TB: t}
		if errors := f.run(func() { test(f) }); len(errors) != 1 || !strings.Contains(errors[0], want) {
			t.Errorf("it failed with %q, not with %q", errors, want)
		}
	}
}

// TestNothingIsLeft: a server leaves no file.
func TestNothingIsLeft(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Run("tests", func(t *testing.T) {
		outage(t)
		teamdatatest.Start(t).Reset()
		f := &failing{TB: t}
		f.run(func() { teamdatatest.Start(f, teamdatatest.Fixture(`{`)) })
	})
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
