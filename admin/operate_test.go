package admin

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"teamdata/store"
)

// each runs a test for each operation that is chosen, in a world of its own.
func each(t *testing.T, choose func(operation) bool, test func(w *world, o operation)) {
	for _, o := range operations {
		if !choose(o) {
			continue
		}
		t.Run(o.method+strings.ReplaceAll(o.path, "/", "_"), func(t *testing.T) {
			w := newWorld(t)
			test(w, o.in(w))
		})
	}
}

func everyOne(operation) bool { return true }

func isPost(o operation) bool { return o.method == "POST" }

// Every operation is answered as documented, and does all that belongs to it in
// one commit.
func TestOperations(t *testing.T) {
	each(t, everyOne, func(w *world, o operation) {
		before := w.happened("org_acme")
		commits := w.commits.Load()
		got := w.do(o.method, o.path, o.body, "Teamdata-Actor", "usr_ada")
		want := strings.ReplaceAll(o.answer, `"actorId":null,"action":"door`, `"actorId":"usr_ada","action":"door`)
		w.holds(got, o.status, want)
		after := w.happened("org_acme")
		equal(w, "audit", strings.Join(after.audit[len(before.audit):], " "), o.audit)
		equal(w, "events", strings.Join(after.waiting, " "), o.events)
		equal(w, "commits in all", w.commits.Load()-commits, int64(o.commits()))
		w.holdsHeaders(got)
		w.holdsLog(o, "usr_ada")
	})
}

// commits is how many it makes: an endpoint that is enabled stays as it is.
func (o operation) commits() int {
	if !o.changes() || strings.HasSuffix(o.path, "/enable") {
		return 0
	}
	return 1
}

func (w *world) holdsHeaders(got reply) {
	w.Helper()
	for name, want := range map[string]string{"Teamdata-Version": "1.2.3", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		equal(w, name, got.header.Get(name), want)
	}
	length := strconv.Itoa(len(got.body))
	if got.status == http.StatusNoContent {
		length = ""
	}
	equal(w, "Content-Length", got.header.Get("Content-Length"), length)
}

// holdsLog holds the log to one line for a change and none for a look, with no
// secret in it.
func (w *world) holdsLog(o operation, actor string) {
	w.Helper()
	want := ""
	if o.changes() {
		want = `{"level":"info","method":"` + o.method + `","path":"` + basePath + o.path + `","status":` + strconv.Itoa(o.status) + `,"actor":"` + actor + `","message":"changed"}` + "\n"
	}
	equal(w, "log", w.log.String(), want)
}

// happened are the audit entries of an org, and what waits at its endpoints.
type happened struct{ audit, waiting []string }

func (w *world) happened(orgID string) (h happened) {
	w.Helper()
	w.view(func(tx store.Tx) error {
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
	each(t, func(o operation) bool { return o.commits() > 0 }, func(w *world, o operation) {
		before := w.everything()
		fault := errors.New("no space left on device")
		w.failing.Store(&fault)
		got := w.do(o.method, o.path, o.body, "Idempotency-Key", "k")
		w.refuses(got, store.CodeUnavailable, "")
		equal(w, "Retry-After", got.header.Get("Retry-After"), "5")
		if after := w.everything(); after != before {
			w.Errorf("before\n%s\nafter\n%s", before, after)
		}
		w.failing.Store(nil)
		w.holds(w.do(o.method, o.path, o.body, "Idempotency-Key", "k"), o.status, o.answer)
	})
}

// everything is what all GETs of a new world's records answer.
func (w *world) everything() string {
	var all strings.Builder
	for _, o := range operations {
		if o = o.in(w); o.method == "GET" && o.path != "/backup" && !strings.Contains(o.path, "/status") {
			all.WriteString(o.path + " " + w.do("GET", o.path, "").body + "\n")
		}
	}
	return all.String()
}

func TestUnknownOrg(t *testing.T) {
	each(t, operation.inOrg, func(w *world, o operation) {
		for _, unknown := range []string{"org_none", "org%20acme", "org_acme%00", strings.Repeat("o", 65)} {
			path := strings.Replace(o.path, "org_acme", unknown, 1)
			w.refuses(w.do(o.method, path, o.body), store.CodeNotFound, "There is no such org.")
			if o.method == "POST" {
				w.refuses(w.do(o.method, path, o.body, "Idempotency-Key", "k"), store.CodeNotFound, "There is no such org.")
			}
		}
	})
}

// What belongs to one org is not there in another, nor is what nobody has.
func TestUnknownResource(t *testing.T) {
	each(t, operation.resource, func(w *world, o operation) {
		before := w.everything()
		got := w.do(o.method, strings.Replace(o.path, "org_acme", "org_other", 1), o.body)
		w.refuses(got, store.CodeNotFound, "The org has no such ")
		parts := strings.Split(o.path, "/")
		parts[4] = "none%00"
		w.refuses(w.do(o.method, strings.Join(parts, "/"), o.body), store.CodeNotFound, "The org has no such ")
		if after := w.everything(); after != before {
			w.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}

// A HEAD has the headers of a GET, but for the size of a backup, which it would
// have to make.
func TestHead(t *testing.T) {
	each(t, func(o operation) bool { return !o.changes() }, func(w *world, o operation) {
		get, head := w.do("GET", o.path, ""), w.do("HEAD", o.path, "")
		equal(w, "status", head.status, get.status)
		equal(w, "body", head.body, "")
		for _, name := range []string{"Content-Type", "Content-Length", "Etag", "Teamdata-Version"} {
			if o.path != "/backup" || name != "Content-Length" {
				equal(w, name, head.header.Get(name), get.header.Get(name))
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

func matchesRoute(path, pattern string) bool {
	have, want := strings.Split(path, "/"), strings.Split(pattern, "/")
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] && !strings.HasPrefix(want[i], ":") {
			return false
		}
	}
	return len(have) == len(want)
}
