package settings

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin/settings/signin/password"
	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/storetest"
)

const goodPassword = "several words of mine"

// link makes a sign-in link of org_acme, and is its path below Path.
func (w *env) link(userID string) string {
	w.Helper()
	var token string
	w.Update(func(tx store.Tx) (err error) {
		_, token, err = store.CreateSignInLink(tx, "org_acme", userID, time.Hour)
		return err
	})
	return "/link/" + token
}

// withPassword gives a user an account with goodPassword.
func (w *env) withPassword(userID string) {
	w.Helper()
	w.newBrowser().post(w.link(userID), chosen(goodPassword)).wants(w, 303)
	w.Advance(time.Second)
}

// cookieOf is the session's cookie; empty without one.
func (b *browser) cookieOf() string {
	at, _ := url.Parse(b.server.URL)
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == "__Host-teamdata" {
			return c.Value
		}
	}
	return ""
}

func (b *browser) signIn(name, password string) reply {
	b.Helper()
	return b.post("/sign-in", url.Values{"name": {name}, "password": {password}, "next": {"/settings/account"}})
}

// Strangers are not told which version runs; who is signed in is.
func TestVersionInTheFoot(t *testing.T) {
	w := newEnv(t)
	w.withFrames()
	for path, b := range map[string]*browser{
		"/sign-in": w.newBrowser(), "/forgot": w.newBrowser(), "/link/none": w.newBrowser(), w.link("usr_ada"): w.newBrowser(), "/nothing": w.newBrowser(),
		"/orgs/org_acme": w.newBrowser().inFrame(), w.portalLink("usr_guest", store.RoleViewer): w.newBrowser().inFrame(),
	} {
		if r := b.get(path); strings.Contains(r.Body, "1.2.3") || !strings.Contains(r.Body, "<p>teamdata</p>") {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	w.signedIn("usr_ada").get("/account").wants(t, 200, "<p>teamdata 1.2.3</p>")
}

func TestSignIn(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	for _, name := range []string{"usr_ada", "ada@acme.example", " ADA@Acme.example "} {
		b := w.newBrowser()
		r := b.signIn(name, goodPassword)
		if r.Status != 303 || r.location() != "/settings/account" {
			t.Fatalf("%q: %d %s", name, r.Status, r.location())
		}
		cookie := r.Header.Get("Set-Cookie")
		for _, part := range []string{"__Host-teamdata=ses_", "Path=/", "HttpOnly", "Secure", "SameSite=Lax"} {
			if !strings.Contains(cookie, part) {
				t.Errorf("the cookie lacks %s: %s", part, cookie)
			}
		}
		b.get("/account").wants(t, 200, "usr_ada", "ada@acme.example", "This browser")
		if r := b.get("/sign-in?next=/settings/orgs"); r.location() != "/settings/orgs" {
			t.Errorf("who is signed in is asked again: %d %s", r.Status, r.location())
		}
	}
}

// The first page is that of the org that was seen last in this browser, as long as the
// person may see it.
func TestLastOrg(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b := w.newBrowser()
	home := func(want string) {
		t.Helper()
		b.signIn("usr_ada", goodPassword)
		b.get("").leads(t, want)
	}
	home("/orgs")
	b.get("/orgs/org_other/keys").wants(t, 200)
	home("/orgs/org_other")
	b.post("/sign-out", nil)
	home("/orgs/org_other")
	b.get("/orgs/org_acme").wants(t, 200)
	b.get("/orgs/org_none").wants(t, 404)
	home("/orgs/org_acme")
	b.get("?done=welcome").leads(t, "/orgs/org_acme?done=welcome")
	b.get("?done=made-up").leads(t, "/orgs/org_acme")
	w.setRole("usr_grace", store.RoleOwner)
	w.Update(func(tx store.Tx) error { return store.RemoveMember(tx, "", "org_acme", "usr_ada") })
	home("/orgs/org_other") // the only one that is left
}

// A wrong name, a wrong password and an account without one are told alike.
func TestSignInRefused(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	w.link("usr_alan") // has an account by now, and no password
	w.Update(func(tx store.Tx) error {
		_, err := store.LinkToShow(tx, "org_other", "usr_olga", "nina", time.Hour)
		return err
	})
	var first string
	for _, row := range [][2]string{
		{"usr_ada", "another password"}, {"usr_ada", ""}, {"usr_none", goodPassword}, {"usr_alan", ""}, {"usr_alan", goodPassword},
		{"", ""}, {"nina", "another password"}, {"usr_ada", strings.Repeat("x", 5000)}, {"usr_grace", goodPassword}, {"usr_ada\x00", "\xff"},
	} {
		b := w.newBrowser()
		r := b.signIn(row[0], row[1])
		r.wants(t, 401, "The name or the password is wrong.")
		if b.cookieOf() != "" {
			t.Errorf("%q got a session", row)
		}
		page := strings.ReplaceAll(r.Body, `value="`+row[0]+`"`, `value=""`)
		if row[0] == "usr_ada\x00" {
			continue // the page writes it in another way
		}
		if first == "" {
			first = page
		}
		if page != first {
			t.Errorf("%q is told apart", row)
		}
		if row[1] != "" && strings.Contains(r.Body, row[1]) {
			t.Errorf("the page holds the password of %q", row)
		}
	}
}

// Nobody can choose a session for somebody else: signing in makes a new one, and
// the one that the browser had ends.
func TestSessionFixation(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b := w.signedIn("usr_alan")
	planted := b.cookieOf()
	b.signIn("usr_ada", goodPassword).wants(t, 303)
	if b.cookieOf() == planted {
		t.Error("the cookie stayed the same")
	}
	b.get("/account").wants(t, 200, "usr_ada")
	w.withCookie(planted).get("/account").wants(t, 303)
}

// withCookie is a browser with a cookie of somebody's choice.
func (w *env) withCookie(value string) *browser {
	w.Helper()
	b := w.newBrowser()
	at, _ := url.Parse(w.server.URL)
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: "__Host-teamdata", Value: value, Path: "/", Secure: true}})
	return b
}

func TestSignOutEndsTheSession(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	stolen := w.withCookie(b.cookieOf())
	stolen.get("/account").wants(t, 200)
	if r := b.post("/sign-out", nil); r.Status != 303 || r.location() != "/settings/sign-in?done=signed-out" {
		t.Fatalf("%d %s", r.Status, r.location())
	}
	if b.cookieOf() != "" {
		t.Error("the cookie is still there")
	}
	for _, browser := range []*browser{b, stolen} {
		browser.get("/account").wants(t, 303)
	}
}

func TestSessionExpires(t *testing.T) {
	w := newEnv(t)
	idle := w.signedIn("usr_ada")
	w.Advance(store.SessionIdle - time.Second)
	idle.get("/account").wants(t, 200)
	w.backgroundDone()
	w.Advance(store.SessionIdle - time.Second)
	idle.get("/account").wants(t, 200) // the one before was noted
	w.backgroundDone()
	w.Advance(store.SessionIdle)
	r := idle.get("/account")
	if r.Status != 303 || r.location() != "/settings/sign-in?done=session-ended&next=%2Fsettings%2Faccount" {
		t.Errorf("%d %s", r.Status, r.location())
	}

	busy := w.signedIn("usr_ada")
	for passed := time.Duration(0); passed < store.SessionAge; passed += 11 * time.Hour {
		busy.get("/account").wants(t, 200)
		w.backgroundDone()
		w.Advance(11 * time.Hour)
	}
	busy.get("/account").wants(t, 303)
}

// backgroundDone waits for what is done after the answers.
func (w *env) backgroundDone() { w.server.Config.Handler.(*Settings).signin.Wait() }

// A session is noted as in use once a minute at most.
func TestSessionIsSeen(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	for _, row := range []struct{ pass, seen time.Duration }{{59 * time.Second, 0}, {time.Second, time.Minute}, {59 * time.Second, time.Minute}, {time.Second, 2 * time.Minute}} {
		w.Advance(row.pass)
		b.get("/account").wants(t, 200)
		w.backgroundDone()
		w.View(func(tx store.Tx) error {
			s, err := store.FindSession(tx, b.cookieOf())
			if !s.LastSeenAt.Equal(kit.Noon.Add(row.seen)) {
				t.Errorf("it was seen at %s, and not %s after kit.Noon", s.LastSeenAt, row.seen)
			}
			return err
		})
	}
}

// After signing in, a page of ours comes, and no other.
func TestNextLeadsNowhereElse(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b := w.newBrowser()
	b.get("/sign-in?next="+url.QueryEscape("//evil.example")).wants(t, 200, `name="next" value="/settings"`)
	r := b.post("/sign-in", url.Values{"name": {"usr_ada"}, "password": {goodPassword}, "next": {"//evil.example"}})
	if r.location() != "/settings" {
		t.Errorf("it leads to %s", r.location())
	}
}

// A hash of other parameters is replaced at the next sign-in, and sessions stay.
func TestOutdatedHashIsRenewed(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	old, err := password.New(password.Cost{Memory: 32, Passes: 1, Threads: 1}).Hash(t.Context(), goodPassword)
	kit.Must(t, err)
	w.Update(func(tx store.Tx) error {
		a, err := tx.Account("usr_ada")
		a.PasswordHash = old
		return errors.Join(err, tx.PutAccount(a))
	})
	w.newBrowser().signIn("usr_ada", "wrong").wants(t, 401)
	for range 2 {
		w.newBrowser().signIn("usr_ada", goodPassword).wants(t, 303)
	}
	w.View(func(tx store.Tx) error {
		a, err := tx.Account("usr_ada")
		if !strings.HasPrefix(a.PasswordHash, "$argon2id$v=19$m=64,t=1,p=1$") || len(a.Sessions) != 3 {
			t.Errorf("the hash is %s, and there are %d sessions", a.PasswordHash, len(a.Sessions))
		}
		return err
	})
	b.get("/account").wants(t, 200)

	w.Update(func(tx store.Tx) error { return store.RenewPasswordHash(tx, "usr_ada", old, "of a password before") })
	w.newBrowser().signIn("usr_ada", goodPassword).wants(t, 303)
}

// The log tells whose account was tried, and nothing that a stranger typed.
func TestLogOfRefusals(t *testing.T) {
	w := newEnv(t)
	log := w.restart(func(*Config) {})
	w.withPassword("usr_ada")
	b := w.newBrowser()
	b.signIn("ada@acme.example", "typed password")
	b.signIn("typed name", "typed password")
	w.try(10, "127.0.0.1:1", "usr_ada")
	b.signIn("usr_ada", goodPassword).wants(t, 429)
	text := log.String()
	if strings.Contains(text, "typed") || strings.Contains(text, "acme.example") {
		t.Errorf("the log has what was typed:\n%s", text)
	}
	if strings.Count(text, "a sign-in was refused") != 12 || strings.Count(text, `"client":"127.0.0.1","how":"password","user":"usr_ada","message":"settings: a sign-in was refused"`) != 11 {
		t.Errorf("the log is\n%s", text)
	}
}

// A product may push a user id that is somebody's sign-in name: both sign in with it, each by
// their own password.
func TestSignInNameThatIsAUserID(t *testing.T) {
	w := newEnv(t)
	const other = "another good password"
	var token string
	w.Update(func(tx store.Tx) (err error) {
		token, err = store.LinkToShow(tx, "org_other", "usr_olga", "u_42", time.Hour)
		return err
	})
	w.newBrowser().post("/link/"+token, chosen(goodPassword)).wants(t, 303)
	w.Update(func(tx store.Tx) error {
		_, err := store.AddMember(tx, "", store.Member{OrgID: "org_acme", UserID: "u_42", Role: store.RoleViewer})
		return err
	})
	w.newBrowser().post(w.link("u_42"), chosen(other)).wants(t, 303)
	w.Advance(time.Second)
	for password, org := range map[string]string{goodPassword: "/orgs/org_other", other: "/orgs/org_acme"} {
		b := w.newBrowser()
		b.signIn("u_42", password)
		b.get("").leads(t, org)
	}
	w.newBrowser().signIn("u_42", "neither's password").wants(t, 401)
}

// A server that was told no public URL is reached at any address. Passkeys are for the one
// that its own URL has.
func TestPasskeysAreOfLocalhost(t *testing.T) {
	w := newEnv(t)
	page := newSettings(storetest.Scoped(t, w.Store), Config{PublicURL: "http://localhost:8080", Log: zerolog.Nop()})
	for host, offered := range map[string]bool{"localhost:8080": true, "localhost:8443": false, "127.0.0.1:8080": false, "data.example.com": false} {
		r, answer := httptest.NewRequest("GET", "/settings/sign-in", nil), httptest.NewRecorder()
		r.Host = host
		page.ServeHTTP(answer, r)
		if got := strings.Contains(answer.Body.String(), "data-passkey"); got != offered {
			t.Errorf("at %s passkeys are offered: %v", host, got)
		}
	}
}
