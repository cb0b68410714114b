package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/wire/web"
)

// lines are those of the log, as JSON.
func (env *testEnv) lines() (lines []map[string]any) {
	env.Helper()
	for line := range strings.Lines(env.LogOutput.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			env.Fatalf("%v in the line %s", err, line)
		}
		lines = append(lines, fields)
	}
	return lines
}

// A line of the access log has its fields and no more. What a client sends beside
// them, secrets above all, is in no line.
func TestAccessLog(t *testing.T) {
	const planted = "PLANTED"
	env := newTestEnv(t, Config{Mounts: []Mount{{"/admin", http.NotFoundHandler()}}})
	env.server.Observe(Observer{AccessLog: LogAll})
	env.do(newRequest("GET", "/api/v1/members?limit=2&token="+planted, "key_read", "X-Request-Id", "abc-1"))
	env.do(newRequest("POST", "/api/v1/webhooks/"+planted+"/test", "key_write", "Cookie", planted, "Idempotency-Key", planted))
	env.do(newRequest("GET", "/"+planted, ""))
	env.do(newRequest(planted, "/api/v1/members", "", "Authorization", "Bearer key_read."+planted, "X-Request-Id", planted+"!"))
	env.do(newRequest("GET", "/admin/v1/orgs/"+planted, ""))
	env.do(newRequest("GET", "/api/v1/members", "key_expired"))

	if log := env.LogOutput.String(); strings.Contains(log, planted) || strings.Contains(log, fixtureSecret) {
		t.Errorf("the log holds a secret:\n%s", log)
	}
	lines := env.lines()
	for i, want := range []string{
		"GET /api/v1/members 200 org_acme key_read",
		"POST /api/v1/webhooks/:id/test 404 org_acme key_write",
		"GET none 404 <nil> <nil>",
		"other none 405 <nil> <nil>",
		"GET /admin/* 404 <nil> <nil>",
		"GET /api/v1/members 401 org_acme key_expired",
	} {
		if i >= len(lines) {
			t.Fatalf("there are only %d lines", len(lines))
		}
		l := lines[i]
		if got := fmt.Sprint(l["method"], " ", l["route"], " ", l["status"], " ", l["org"], " ", l["key"]); got != want {
			t.Errorf("line %d is of %s, not %s", i, got, want)
		}
	}
	fields := slices.Sorted(maps.Keys(lines[0]))
	if want := "[bytes client key level message method ms org requestId route status]"; fmt.Sprint(fields) != want {
		t.Errorf("a line has the fields %v, not %s", fields, want)
	}
	if l := lines[0]; l["requestId"] != "abc-1" || l["client"] != "192.0.2.1" || l["level"] != "info" || l["bytes"].(float64) < 100 || l["ms"].(float64) < 0 {
		t.Errorf("the first line is %v", l)
	}
}

func TestWhatIsLogged(t *testing.T) {
	for _, test := range []struct {
		log    AccessLog
		sample int
		want   string // statuses of the lines
	}{
		{LogOff, 0, "[]"},
		{LogErrors, 0, "[404 404 500]"},
		{LogErrors, 2, "[404 500]"},
		{LogAll, 1, "[200 200 404 404 200 429 500]"},
		{LogAll, 5, "[200 500]"},
	} {
		env := newTestEnv(t, Config{ClientRate: 3, Mounts: mounted(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		}))})
		env.server.Observe(Observer{AccessLog: test.log, AccessLogSample: test.sample})
		for _, path := range []string{"/api/v1/members", "/api/v1/members", "/a", "/b"} {
			env.do(newRequest("GET", path, "key_read"))
		}
		env.do(newRequest("GET", "/api/v1/audit-log", "key_read"))
		env.do(newRequest("GET", "/api/v1/audit-log", "key_read"))
		env.Advance(time.Hour)
		env.do(newRequest("GET", "/admin/v1/status", ""))
		var got []string
		for _, line := range env.lines() {
			got = append(got, fmt.Sprint(line["status"]))
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s, one in %d: logged %v, not %s", test.log, test.sample, got, test.want)
		}
	}
}

// A request id is the client's if it is well formed, else a new one; it is always
// answered.
func TestRequestID(t *testing.T) {
	env := newTestEnv(t, Config{})
	long := strings.Repeat("x", 65)
	for given, kept := range map[string]bool{
		"a": true, "Az09_-": true, long[:64]: true,
		"": false, long: false, "a b": false, "a.b": false, "é": false, "[": false, "@": false, "`": false, "{": false, "a\"": false,
	} {
		answer := env.do(newRequest("GET", "/nowhere", "", web.RequestIDHeader, given))
		got := header(answer, web.RequestIDHeader)
		if len(got) != 1 || (got[0] == given) != kept || !store.ValidID(got[0]) {
			t.Errorf("given %q, answered %q", given, got)
		}
	}
	first, second := env.do(newRequest("GET", "/", "")), env.do(newRequest("GET", "/", ""))
	if first.Header().Get(web.RequestIDHeader) == second.Header().Get(web.RequestIDHeader) {
		t.Error("two requests got the same id")
	}
	twice := env.do(newRequest("GET", "/", "", web.RequestIDHeader, "a", web.RequestIDHeader, "b"))
	if id := twice.Header().Get(web.RequestIDHeader); id == "a" || id == "b" {
		t.Errorf("of two ids %q was taken", id)
	}
}

// An observer is given the pattern of a route that Routes has, never the path.
func TestAnswered(t *testing.T) {
	env := newTestEnv(t, Config{KeyRate: 2, ClientRate: 5, Mounts: []Mount{{"/admin", http.NotFoundHandler()}}})
	var answered, limited []string
	env.server.Observe(Observer{
		Answered: func(route string, status int, took time.Duration) {
			if !slices.Contains(env.server.Routes(), route) || took <= 0 {
				t.Errorf("told of %q, which took %s", route, took)
			}
			answered = append(answered, fmt.Sprint(route, " ", status))
		},
		Limited: func(limit string) { limited = append(limited, limit) },
	})
	for range 3 {
		env.do(newRequest("GET", "/api/v1/members", "key_read"))
	}
	env.do(newRequest("HEAD", "/api/v1/webhooks/x/test", "")) // no route takes it, and no limit counts it
	env.do(newRequest("GET", "/admin/v1/status", ""))
	env.do(newRequest("GET", "/admin/v1/status", ""))
	env.do(newRequest("GET", "/admin/v1/status", ""))
	want := "[/api/v1/members 200 /api/v1/members 200 /api/v1/members 429 none 405 /admin/* 404 /admin/* 404 /admin/* 429]"
	if got := fmt.Sprint(answered); got != want {
		t.Errorf("told of %s, not %s", got, want)
	}
	if fmt.Sprint(limited) != "[key client]" {
		t.Errorf("told of the limits %v", limited)
	}
}

// Beneath another handler the connection is as it is without us: one whose request
// is too large is closed, and what is answered in parts goes out in parts.
func TestNotingTheAdminAPI(t *testing.T) {
	env := newTestEnv(t, Config{Mounts: mounted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 10)); {
		case err != nil:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		case r.ContentLength > 0:
			io.WriteString(w, "parts")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		}
	}))})
	var answered []string
	env.server.Observe(Observer{AccessLog: LogAll, Answered: func(_ string, status int, _ time.Duration) {
		answered = append(answered, fmt.Sprint(status))
	}})
	for _, test := range []struct {
		body   string
		status int
		closed bool
	}{{"", 200, false}, {"short", 200, false}, {"longer than ten bytes", 413, true}} {
		answer, err := http.Post("http://"+env.listen()+"/admin/v1/x", "text/plain", strings.NewReader(test.body))
		kit.Must(t, err)
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != test.status || answer.Close != test.closed {
			t.Errorf("%q is answered %d, closed: %t", test.body, answer.StatusCode, answer.Close)
		}
	}
	env.server.Shutdown(t.Context()) // waits for what is told after an answer
	if fmt.Sprint(answered) != "[200 200 413]" {
		t.Errorf("told of %v", answered)
	}
	if lines := env.lines(); len(lines) != 3 || lines[1]["bytes"] != 5.0 {
		t.Errorf("logged %v", lines)
	}
}

// The health checks are answered without a key, outside of all limits, and not
// logged.
func TestHealth(t *testing.T) {
	env := newTestEnv(t, Config{ClientRate: 1, KeyRate: 1})
	var failing, warnings []string
	env.server.Observe(Observer{
		AccessLog: LogAll, Failing: func(context.Context) []string { return failing }, Warnings: func(context.Context) []string { return warnings },
	})
	for _, test := range []struct {
		failing, warnings []string
		path              string
		status            int
		body              string
	}{
		{nil, nil, LivePath, 200, "ok\n"},
		{nil, nil, ReadyPath, 200, "ok\n"},
		{[]string{"disk: 0 KiB are free", "commit: the disk is full"}, nil, LivePath, 200, "ok\n"},
		{[]string{"disk: 0 KiB are free", "commit: the disk is full"}, nil, ReadyPath, 503, "disk: 0 KiB are free\ncommit: the disk is full\n"},
		{nil, []string{"egress proxy: it is silent"}, LivePath, 200, "ok\n"},
		{nil, []string{"egress proxy: it is silent"}, ReadyPath, 200, "ok\negress proxy: it is silent\n"},
		{[]string{"commit: the disk is full"}, []string{"egress proxy: it is silent"}, ReadyPath, 503, "commit: the disk is full\negress proxy: it is silent\n"},
	} {
		failing, warnings = test.failing, test.warnings
		answer := env.do(newRequest("GET", test.path, ""))
		if answer.Code != test.status || answer.Body.String() != test.body {
			t.Errorf("%s is answered %d %q", test.path, answer.Code, answer.Body)
		}
		if kind := answer.Header().Get("Content-Type"); kind != "text/plain; charset=utf-8" {
			t.Errorf("the answer is %s", kind)
		}
		if head := env.do(newRequest("HEAD", test.path, "")); head.Code != test.status {
			t.Errorf("HEAD %s is answered %d", test.path, head.Code)
		}
	}
	if log := env.LogOutput.String(); log != "" {
		t.Errorf("the log says %s", log)
	}
	if answer := env.do(newRequest("POST", LivePath, "")); answer.Code != 404 {
		t.Errorf("a POST is answered %d", answer.Code)
	}
	warnings, env.server.drainDelay = nil, 0
	kit.Must(t, env.server.Shutdown(t.Context()))
	if answer := env.do(newRequest("GET", ReadyPath, "")); answer.Code != 503 || answer.Body.String() != "stopping\n" {
		t.Errorf("while it stops it is answered %d %q", answer.Code, answer.Body)
	}
	if answer := env.do(newRequest("GET", LivePath, "")); answer.Code != 200 {
		t.Errorf("while it stops %s is answered %d", LivePath, answer.Code)
	}
}
