package admin

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
)

// each runs a test for each operation that is chosen, in an environment of its own.
func each(t *testing.T, choose func(operation) bool, test func(env *testEnv, o operation)) {
	for _, o := range operations {
		if !choose(o) {
			continue
		}
		t.Run(o.method+strings.ReplaceAll(o.path, "/", "_"), func(t *testing.T) {
			if o.path == "/backup" {
				engines.NeedsFile(t)
			}
			env := newTestEnv(t)
			test(env, o.in(env))
		})
	}
}

func everyOne(operation) bool { return true }

func isPost(o operation) bool { return o.method == "POST" }

// Every operation is answered as documented, and does all that belongs to it in
// one commit.
func TestOperations(t *testing.T) {
	each(t, everyOne, func(env *testEnv, o operation) {
		before := env.effects("org_acme")
		commits := env.commits.Load()
		got := env.do(o.method, o.path, o.body, "Teamdata-Actor", "usr_ada")
		want := strings.ReplaceAll(o.answer, `"actorId":null,"action":"door`, `"actorId":"usr_ada","action":"door`)
		if strings.HasSuffix(o.path, "/disable") {
			want = strings.Replace(want, `"disabledBy":null`, `"disabledBy":"usr_ada"`, 1)
		}
		env.wantAnswer(got, o.status, want)
		after := env.effects("org_acme")
		equal(env, "audit", strings.Join(after.audit[len(before.audit):], " "), o.audit)
		equal(env, "events", strings.Join(after.waiting, " "), o.events)
		equal(env, "commits in all", env.commits.Load()-commits, int64(o.commits()))
		env.wantHeaders(got)
		env.wantLog(o, "usr_ada")
	})
}

// commits is how many it makes: an endpoint that is enabled stays as it is.
func (o operation) commits() int {
	if o.audit == "" && !o.changes() || strings.HasSuffix(o.path, "/enable") {
		return 0
	}
	return 1
}

func (env *testEnv) wantHeaders(got kit.Answer) {
	env.Helper()
	for name, want := range map[string]string{"Teamdata-Version": "1.2.3", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		equal(env, name, got.Header.Get(name), want)
	}
	length := strconv.Itoa(len(got.Body))
	if got.Status == http.StatusNoContent {
		length = ""
	}
	equal(env, "Content-Length", got.Header.Get("Content-Length"), length)
}

// wantLog holds the log to one line for a change and none for a read, with no
// secret in it.
func (env *testEnv) wantLog(o operation, actor string) {
	env.Helper()
	want := ""
	if o.changes() {
		want = `{"level":"info","method":"` + o.method + `","path":"` + basePath + o.path + `","status":` + strconv.Itoa(o.status) + `,"actor":"` + actor + `","message":"changed"}` + "\n"
	}
	equal(env, "log", env.LogOutput.String(), want)
}

// effects are the audit entries of an org, and what waits at its endpoints.
type effects struct{ audit, waiting []string }

func (env *testEnv) effects(orgID string) (h effects) {
	env.Helper()
	env.View(func(tx store.Tx) error {
		h = effects{} // it may run again
		page, err := tx.AuditPage(orgID, store.Cursor{}, 10_000, nil)
		if err != nil {
			return err
		}
		for part := range strings.SplitSeq(string(page.Items), `"action":"`) {
			action, _, _ := strings.Cut(part, `"`)
			h.audit = append(h.audit, action)
		}
		endpoints, err := tx.Endpoints(orgID)
		for _, e := range endpoints {
			waiting, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 10_000)
			if err != nil {
				return err
			}
			for _, d := range waiting {
				h.waiting = append(h.waiting, d.EventType)
			}
		}
		return err
	})
	return h
}

// When the disk fails, nothing is done, and the client hears that it may try
// again.
func TestNothingIsHalfDone(t *testing.T) {
	each(t, func(o operation) bool { return o.commits() > 0 }, func(env *testEnv, o operation) {
		before := env.everything()
		fault := errors.New("no space left on device")
		env.failing.Store(&fault)
		got := env.do(o.method, o.path, o.body, "Idempotency-Key", "k")
		env.wantError(got, store.CodeUnavailable, "")
		equal(env, "Retry-After", got.Header.Get("Retry-After"), "5")
		if after := env.everything(); after != before {
			env.Errorf("before\n%s\nafter\n%s", before, after)
		}
		env.failing.Store(nil)
		env.wantAnswer(env.do(o.method, o.path, o.body, "Idempotency-Key", "k"), o.status, o.answer)
	})
}

// everything is what all GETs of a new environment's records answer, but for those
// that leave an audit entry.
func (env *testEnv) everything() string {
	var all strings.Builder
	for _, o := range operations {
		if o = o.in(env); o.method == "GET" && o.audit == "" && o.path != "/backup" && !strings.Contains(o.path, "/status") {
			all.WriteString(o.path + " " + env.do("GET", o.path, "").Body + "\n")
		}
	}
	return all.String()
}

func TestUnknownOrg(t *testing.T) {
	each(t, operation.inOrg, func(env *testEnv, o operation) {
		for _, unknown := range []string{"org_none", "org%20acme", "org_acme%00", strings.Repeat("o", 65)} {
			path := strings.Replace(o.path, "org_acme", unknown, 1)
			env.wantError(env.do(o.method, path, o.body), store.CodeNotFound, "There is no such org.")
			if o.method == "POST" {
				env.wantError(env.do(o.method, path, o.body, "Idempotency-Key", "k"), store.CodeNotFound, "There is no such org.")
			}
		}
	})
}

// What belongs to one org is not there in another, nor is what nobody has.
func TestUnknownResource(t *testing.T) {
	each(t, operation.resource, func(env *testEnv, o operation) {
		before := env.everything()
		got := env.do(o.method, strings.Replace(o.path, "org_acme", "org_other", 1), o.body)
		env.wantError(got, store.CodeNotFound, "The org has no such ")
		parts := strings.Split(o.path, "/")
		parts[4] = "none%00"
		env.wantError(env.do(o.method, strings.Join(parts, "/"), o.body), store.CodeNotFound, "The org has no such ")
		if after := env.everything(); after != before {
			env.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}

// A HEAD has the headers of a GET, but for the size of a backup, which it would
// have to make.
func TestHead(t *testing.T) {
	each(t, func(o operation) bool { return !o.changes() }, func(env *testEnv, o operation) {
		get, head := env.do("GET", o.path, ""), env.do("HEAD", o.path, "")
		equal(env, "status", head.Status, get.Status)
		equal(env, "body", head.Body, "")
		for _, name := range []string{"Content-Type", "Content-Length", "Etag", "Teamdata-Version"} {
			if o.path != "/backup" || name != "Content-Length" {
				equal(env, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	})
}

// Each route has an operation here.
func TestOperationsAreComplete(t *testing.T) {
	for _, rt := range routes {
		found := false
		for _, o := range operations {
			found = found || o.method == rt.method && matchesRoute(o.path, rt.path)
		}
		if !found {
			t.Errorf("no operation shows %s %s", rt.method, rt.path)
		}
	}
}

// What is said of routes by their paths is said of routes that there are.
func TestPushedAreRoutes(t *testing.T) {
	for _, path := range pushed {
		if !slices.ContainsFunc(routes, func(rt route) bool { return rt.path == path }) {
			t.Errorf("%s is no route", path)
		}
	}
}

func matchesRoute(path, pattern string) bool {
	have, want := strings.Split(path, "/"), strings.Split(pattern, "/")
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] && !strings.HasPrefix(want[i], ":") {
			return false
		}
	}
	return len(have) == len(want)
}
