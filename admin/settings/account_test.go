package settings

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestChangePassword(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b, other := w.newBrowser(), w.newBrowser()
	b.signIn("usr_ada", goodPassword).wants(t, 303)
	other.signIn("usr_ada", goodPassword).wants(t, 303)
	link := w.link("usr_ada")
	w.Advance(time.Second)

	form := func(old, password, again string) url.Values {
		return url.Values{"old": {old}, "password": {password}, "again": {again}}
	}
	b.get("/account/password").wants(t, 200, `autocomplete="current-password"`, `autocomplete="new-password"`, `value="ada@acme.example" autocomplete="username"`)
	for _, row := range []struct {
		form url.Values
		text string
	}{
		{form("wrong", "another few words", "another few words"), `id="old-error">Current password is not the right one`},
		{form(goodPassword, "short", "short"), `id="password-error">New password must have at least 12`},
		{form(goodPassword, "another few words", "another few word"), `id="again-error">The two new passwords differ.<`},
		{nil, `id="old-error"`},
	} {
		b.post("/account/password", row.form).wants(t, 400, row.text)
	}
	other.get("/account").wants(t, 200)
	if r := b.post("/account/password", form(goodPassword, "another few words", "another few words")); r.location() != "/settings/account?done=password-changed" {
		t.Fatalf("%d %s", r.Status, r.location())
	}
	b.get("/account?done=password-changed").wants(t, 200, "Your password was changed.")
	other.get("/account").wants(t, 303)
	w.newBrowser().get(link).wants(t, 410)
	w.newBrowser().signIn("usr_ada", goodPassword).wants(t, 401)
	w.newBrowser().signIn("usr_ada", "another few words").wants(t, 303)

	for range 10 {
		b.post("/account/password", form("wrong", goodPassword, goodPassword)).wants(t, 400)
	}
	b.post("/account/password", form("another few words", goodPassword, goodPassword)).wants(t, 429, "Too many attempts")
}

var endPath = regexp.MustCompile(`/account/sessions/ses_\w+/end`)

func TestSessions(t *testing.T) {
	w := newEnv(t)
	b, second, third := w.signedIn("usr_ada"), w.signedIn("usr_ada"), w.signedIn("usr_ada")
	stranger := w.signedIn("usr_alan")
	page := b.get("/account")
	page.wants(t, 200, "Where you are signed in", "This browser", "End all other sessions")
	ends := endPath.FindAllString(page.Body, -1)
	if len(ends) != 2 {
		t.Fatalf("%d sessions can be ended:\n%s", len(ends), page.Body)
	}
	stranger.post(ends[0], nil).wants(t, 404)
	third.get("/account").wants(t, 200)
	b.post(ends[0], nil).wants(t, 303) // the latest is first
	third.get("/account").wants(t, 303)
	b.post(ends[0], nil).wants(t, 404)
	b.post("/account/end-other-sessions", nil).wants(t, 303)
	second.get("/account").wants(t, 303)
	b.get("/account").wants(t, 200)
	stranger.get("/account").wants(t, 200)
}

// Somebody who is demoted is signed out at the next click, and can do nothing more.
func TestDemotedWhileAPageIsOpen(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_alan")
	w.Advance(time.Second)
	b := w.newBrowser()
	b.signIn("usr_alan", goodPassword).wants(t, 303)
	b.get("/account").wants(t, 200)
	w.setRole("usr_alan", store.RoleMember)
	before := w.file()
	for _, path := range []string{"/account/end-other-sessions", "/account/password", "/sign-out"} {
		if r := b.withCookieOf(b).post(path, url.Values{"old": {goodPassword}, "password": {"another few words"}, "again": {"another few words"}}); r.Status != 303 || r.location() != "/settings/sign-in?done=session-ended" {
			t.Errorf("%s: %d %s", path, r.Status, r.location())
		}
	}
	if w.file() != before {
		t.Error("the file has changed")
	}
	r := b.get("/account")
	if r.Status != 303 || b.cookieOf() != "" {
		t.Errorf("%d, and the cookie is %q", r.Status, b.cookieOf())
	}
	b.get(strings.TrimPrefix(r.location(), "/settings")).wants(t, 200, "you may no longer see any org")
	b.signIn("usr_alan", goodPassword).wants(t, 401)

	w.setRole("usr_alan", store.RoleAdmin) // again, and with nothing of before
	b.signIn("usr_alan", goodPassword).wants(t, 401)
}

// Somebody who still manages another org loses only this one.
func TestDemotedInOneOrg(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get("/orgs").wants(t, 200, "acme", "other")
	w.setRole("usr_alan", store.RoleOwner)
	w.setRole("usr_ada", store.RoleMember)
	b.get("/orgs/org_acme/endpoints").wants(t, 404)
	if r := b.get(""); r.location() != "/settings/orgs/org_other" {
		t.Errorf("home is %s", r.location())
	}
}

func (w *env) setRole(userID, role string) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		_, err := store.ChangeMember(tx, "", "org_acme", userID, store.MemberChange{Role: &role})
		return err
	})
}

// withCookieOf is another browser with the same cookie.
func (w *env) withCookieOf(b *browser) *browser {
	w.Helper()
	return w.withCookie(b.cookieOf())
}

// What the file holds of a session opens nothing, however it is written.
func TestHashIsNoCookie(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	var s store.Session
	w.View(func(tx store.Tx) (err error) {
		s, err = store.FindSession(tx, b.cookieOf())
		return err
	})
	hash := s.SecretHash[:]
	for _, text := range []string{
		string(hash), hex.EncodeToString(hash), strings.ToUpper(hex.EncodeToString(hash)),
		base64.StdEncoding.EncodeToString(hash), base64.RawStdEncoding.EncodeToString(hash),
		base64.URLEncoding.EncodeToString(hash), base64.RawURLEncoding.EncodeToString(hash), "",
	} {
		for _, cookie := range []string{s.ID + "." + text, text, "." + text} {
			w.withCookie(cookie).get("/account").wants(t, 303)
		}
	}
	w.withCookie(b.cookieOf()+"x").get("/account").wants(t, 303)
	w.withCookieOf(b).get("/account").wants(t, 200)
}
