package settings

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// mayAdd asks whether a passkey may be added, with a password or without.
func (b *browser) mayAdd(password string) reply {
	b.Helper()
	return b.post("/passkeys/add/begin", url.Values{"old": {password}})
}

// A session that somebody found open adds no passkey: that takes the password, or a
// passkey that was used in the session less than five minutes ago.
func TestAddingAPasskeyAsks(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	w.withPassword("usr_ada")
	b := w.signedIn("usr_ada")
	b.get("/account").wants(t, 200, "Current password")
	b.mayAdd("").wants(t, 400, "Adding a passkey needs your password")
	b.mayAdd("wrong").wants(t, 400, "Current password is not the right one")
	b.mayAdd(goodPassword).wants(t, 200, "challenge")

	d := w.withPasskey()
	d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, 200)
	if page := d.get("/account").Body; strings.Contains(page, "Current password") {
		t.Error("the page asks for the password after a passkey was used")
	}
	d.mayAdd("").wants(t, 200, "challenge")
	at, _ := url.Parse(w.server.URL)
	other := w.signedIn("usr_ada")
	for _, c := range d.client.Jar.Cookies(at) {
		if strings.HasSuffix(c.Name, "-passkey") {
			other.client.Jar.SetCookies(at, []*http.Cookie{{Name: c.Name, Value: c.Value, Path: "/", Secure: true}})
		}
	}
	other.mayAdd("").wants(t, 400)
	w.Advance(5 * time.Minute)
	d.mayAdd("").wants(t, 400)
	d.get("/account").wants(t, 200, "Current password", "Sign in again with a passkey")
}

// Whoever tries passwords there is slowed down as on the sign-in page.
func TestAddingAPasskeyIsNoWayToTry(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	w.withPassword("usr_ada")
	b := w.signedIn("usr_ada")
	for range 10 {
		b.mayAdd("wrong").wants(t, 400)
	}
	b.mayAdd(goodPassword).wants(t, 429)
}
