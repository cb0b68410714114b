package settings

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lockOut tries a name from many addresses until nobody may try it any more.
func (w *env) lockOut(name string) {
	w.Helper()
	w.Advance(15 * time.Minute) // what was tried before counts no longer
	for i := range 50 {
		if got := w.from("192.0.2."+strconv.Itoa(i/10)+":1", name, "wrong").Code; got != 401 {
			w.Fatalf("try %d: %d", i, got)
		}
	}
	w.newBrowser().signIn(name, goodPassword).wants(w, 429, "Too many attempts")
}

// While strangers lock an account's name, its owner signs in where she did before.
func TestKnownBrowser(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b := w.newBrowser()
	b.signIn("usr_ada", goodPassword).wants(t, 303)
	b.post("/sign-out", nil).wants(t, 303)
	w.lockOut("usr_ada")
	b.signIn("usr_ada", goodPassword).wants(t, 303)
	b.post("/account/password", url.Values{"old": {goodPassword}, "password": {"another few words"}, "again": {"another few words"}}).wants(t, 303)
	b.post("/sign-out", nil).wants(t, 303)
	for range 10 {
		b.signIn("usr_ada", goodPassword).wants(t, 401)
	}
	b.signIn("usr_ada", "another few words").wants(t, 429)
}

// Another account's cookie, a made-up one and one from before another password was
// chosen make no browser known.
func TestUnknownBrowsers(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	w.withPassword("usr_alan")
	before, alan := w.newBrowser(), w.newBrowser()
	before.signIn("usr_ada", goodPassword).wants(t, 303)
	alan.signIn("usr_alan", goodPassword).wants(t, 303)
	w.Advance(time.Second)
	w.newBrowser().post(w.link("usr_ada"), chosen(goodPassword)).wants(t, 303)
	w.lockOut("usr_ada")
	before.signIn("usr_ada", goodPassword).wants(t, 429)

	at, _ := url.Parse(w.server.URL)
	ada, alans := before.knownCookie(), alan.knownCookie()
	for _, value := range []string{alans.Value, "", ".", "x." + strings.Repeat("0", 64)} {
		b := w.newBrowser()
		b.client.Jar.SetCookies(at, []*http.Cookie{{Name: ada.Name, Value: value, Path: "/", Secure: true}})
		b.signIn("usr_ada", goodPassword).wants(t, 429)
	}
}

// knownCookie is that by which a browser is known.
func (b *browser) knownCookie() *http.Cookie {
	b.Helper()
	at, _ := url.Parse(b.server.URL)
	for _, c := range b.client.Jar.Cookies(at) {
		if strings.Contains(c.Name, "-known-") {
			return c
		}
	}
	b.Fatal("the browser has no such cookie")
	return nil
}
