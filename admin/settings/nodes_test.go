package settings

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// nodes is how many there are on one database in these tests.
const nodes = 3

// newNodes is an env of which each request goes to the next node.
func newNodes(t *testing.T) *env {
	t.Helper()
	target, err := pgstore.ParseTarget(postgres.New(t))
	kit.Must(t, err)
	w := &env{server: httptest.NewUnstartedServer(nil)}
	var all [nodes]http.Handler
	open := func(now func() time.Time) store.Engine {
		s, err := pgstore.Open(t.Context(), target, pgstore.Options{Now: now, Node: pgstore.RandomName()})
		kit.Must(t, err)
		return s
	}
	w.storeEnv = kit.NewEnv(t, func(_ string, now func() time.Time) (store.Engine, error) { return open(now), nil }, fill)
	for i := range all {
		s := w.Store
		if i > 0 {
			s = open(w.Now)
			t.Cleanup(func() { s.Close() })
		}
		all[i] = newSettings(storetest.Scoped(t, s), Config{PublicURL: "https://data.example.com", Version: "1.2.3", Log: zerolog.Nop(), Mailed: func() {}})
	}
	var turn atomic.Int64
	w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		all[turn.Add(1)%nodes].ServeHTTP(rw, r)
	})
	w.server.StartTLS()
	t.Cleanup(w.server.Close)
	return w
}

// everywhere gets a page from each node, which all answer with a status.
func (b *browser) everywhere(path string, status int) {
	b.Helper()
	for range nodes {
		b.get(path).wants(b, status)
	}
}

// rounds is how often something is repeated that a race could hide.
func rounds() int { return kit.Size(8, 1000) }

// A password is chosen, used and changed with each request on another node, and all
// nodes count its attempts together.
func TestPasswordOverNodes(t *testing.T) {
	w := newNodes(t)
	w.withPassword("usr_ada")
	b := w.newBrowser()
	b.get("/sign-in").wants(t, 200)
	b.signIn("usr_ada", goodPassword).wants(t, 303)
	b.everywhere("/account", 200)

	stranger := w.newBrowser()
	for range 9 { // and b's, from the same address
		stranger.signIn("usr_ada", "another password").wants(t, 401)
	}
	for range nodes {
		r := stranger.signIn("usr_ada", goodPassword)
		if r.wants(t, 429, "Too many attempts"); r.Header.Get("Retry-After") != "900" {
			t.Errorf("it may try again after %s s", r.Header.Get("Retry-After"))
		}
	}
	b.signIn("usr_ada", goodPassword).wants(t, 303) // from a browser that is known
	w.Advance(15 * time.Minute)
	stranger.signIn("usr_ada", goodPassword).wants(t, 303)

	const words = "another few words"
	b.post("/account/password", url.Values{"old": {goodPassword}, "password": {words}, "again": {words}}).wants(t, 303)
	stranger.everywhere("/account", 303)
	b.everywhere("/account", 200)
	for range nodes {
		w.newBrowser().signIn("usr_ada", goodPassword).wants(t, 401)
		w.newBrowser().signIn("usr_ada", words).wants(t, 303)
	}
}

// A session that has ended is refused by every node from then on.
func TestSessionEndsOverNodes(t *testing.T) {
	w := newNodes(t)
	for range rounds() {
		b := w.signedIn("usr_ada")
		b.everywhere("/account", 200)
		cookie := b.cookieOf()
		b.post("/sign-out", nil).wants(t, 303)
		for range nodes {
			copied := w.newBrowser()
			at, _ := url.Parse(w.server.URL)
			copied.client.Jar.SetCookies(at, []*http.Cookie{{Name: "__Host-teamdata", Value: cookie, Path: "/", Secure: true}})
			copied.get("/account").wants(t, 303)
		}
	}
}

// A ceremony that began on one node ends on another, once.
func TestPasskeyOverNodes(t *testing.T) {
	w := newNodes(t)
	w.withPassword("usr_ada")
	d := w.withPasskey()
	for range nodes + 1 {
		d.browser = w.newBrowser()
		d.credential.Counter++
		answer := d.signed(d.asked("sign-in"))
		d.finish("sign-in", answer).wants(t, 200, `{"location":"/settings/orgs"}`)
		d.everywhere("/account", 200)
		for range nodes {
			d.finish("sign-in", answer).wants(t, 400, "already done")
		}
	}
	for range rounds() { // and at once
		w.Advance(15 * time.Minute)
		d.browser = w.newBrowser()
		d.credential.Counter++
		answer, statuses := d.signed(d.asked("sign-in")), make(chan int, nodes)
		for range nodes {
			go func() { statuses <- d.finish("sign-in", answer).Status }()
		}
		accepted := 0
		for range nodes {
			if <-statuses == 200 {
				accepted++
			}
		}
		if accepted != 1 {
			t.Errorf("one answer was accepted %d times", accepted)
		}
	}
}
