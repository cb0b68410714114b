package settings

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func chosen(password string) url.Values { return url.Values{"password": {password}} }

// A program that looks through mail follows the link, and uses nothing up; the
// person then chooses a password, is signed in, and every other session ends.
func TestLink(t *testing.T) {
	w := newEnv(t)
	log := w.restart(func(*Config) {})
	before := w.signedIn("usr_ada")
	w.Advance(time.Second)
	path := w.link("usr_ada")
	for range 3 {
		r := w.newBrowser().get(path)
		r.wants(t, 200, "usr_ada", "ada@acme.example", "acme", "other", `autocomplete="new-password"`)
		if r.Header.Get("Referrer-Policy") != "strict-origin" || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("the headers are %v", r.Header)
		}
	}
	b := w.newBrowser()
	if r := b.post(path, chosen(goodPassword)); r.Status != 303 || r.location() != "/settings?done=welcome" {
		t.Fatalf("%d %s", r.Status, r.location())
	}
	b.get("/account").wants(t, 200, "usr_ada")
	before.get("/account").wants(t, 303)
	w.newBrowser().signIn("usr_ada", goodPassword).wants(t, 303)
	for _, r := range []reply{w.newBrowser().get(path), w.newBrowser().post(path, chosen("another few words"))} {
		r.wants(t, http.StatusGone, "This link is no longer valid", "/settings/forgot", "teamdata signin-link")
	}
	token := strings.TrimPrefix(path, "/link/")
	if text := log.String(); strings.Contains(text, token) || strings.Contains(text, goodPassword) || strings.Contains(text, "argon2id") {
		t.Errorf("the log tells a secret:\n%s", text)
	}
	for _, want := range []string{`"user":"usr_ada","client":"127.0.0.1","how":"link","message":"settings: a password was set"`, `"how":"link","message":"settings: signed in"`, `"how":"password","message":"settings: signed in"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// A link removes the account's passkeys, one of which may be a thief's, unless its
// user keeps them. It asks where there are some.
func TestLinkAndPasskeys(t *testing.T) {
	w, log := newPasskeyEnv(t)
	if page := w.newBrowser().get(w.link("usr_ada")); strings.Contains(page.Body, "keepPasskeys") {
		t.Error("it asks about passkeys where there are none")
	}
	d := w.withPasskey()
	signIn := func(want int) {
		t.Helper()
		d.browser = w.newBrowser()
		d.credential.Counter++
		d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, want)
	}
	path := w.link("usr_ada")
	w.newBrowser().get(path).wants(t, 200, "Laptop</bdi>. They are removed, unless you keep them", `name="keepPasskeys"`)
	form := chosen(goodPassword)
	form.Set("keepPasskeys", "yes")
	form.Set("password", "short")
	w.newBrowser().post(path, form).wants(t, 400, `value="yes" checked`)
	form.Set("password", goodPassword)
	w.newBrowser().post(path, form).wants(t, 303)
	signIn(200)

	b := w.newBrowser()
	b.post(w.link("usr_ada"), chosen(goodPassword)).wants(t, 303)
	signIn(401)
	b.get("/account").wants(t, 200, "No passkeys yet")
	if want := `"passkeys":1,"message":"settings: the passkeys were removed"`; strings.Count(log.String(), want) != 1 {
		t.Errorf("the log lacks %s:\n%s", want, log)
	}
}

// What may not be a password is said, beside its field, and the link stays good.
func TestLinkRefusesPasswords(t *testing.T) {
	w := newEnv(t)
	path := w.link("usr_ada")
	for _, row := range []struct {
		form url.Values
		text string
	}{
		{chosen(""), "must have at least 12 characters"},
		{chosen("elevenchars"), "must have at least 12 characters"},
		{chosen(strings.Repeat("x", 201)), "must have at most 200 characters"},
		{chosen("ADA@acme.example"), "must not be what you sign in with"},
		{chosen("\xffmore than twelve"), "must be text"},
	} {
		r := w.newBrowser().post(path, row.form)
		r.wants(t, 400, row.text, `aria-invalid="true"`)
		if strings.Contains(r.Body, goodPassword) {
			t.Error("the page holds the password")
		}
	}
	w.newBrowser().post(path, chosen(strings.Repeat("é", 200))).wants(t, 303)
}

func TestLinksThatDoNotWork(t *testing.T) {
	w := newEnv(t)
	old, other := w.link("usr_ada"), w.link("usr_ada")
	w.Advance(time.Second)
	w.newBrowser().post(w.link("usr_ada"), chosen(goodPassword)).wants(t, 303)
	expired := w.link("usr_ada")
	w.Advance(time.Hour)
	demoted := w.link("usr_alan")
	role := store.RoleMember
	w.Update(func(tx store.Tx) error {
		_, err := store.ChangeMember(tx, "", "org_acme", "usr_alan", store.MemberChange{Role: &role})
		return err
	})
	good := w.link("usr_ada")
	for name, path := range map[string]string{
		"superseded": old, "superseded too": other, "expired": expired, "demoted": demoted, "wrong": good + "x", "another's secret": old[:34] + good[34:],
		"without a secret": "/link/sil_1", "empty secret": "/link/sil_1.", "no id": "/link/.x", "an API key": "/link/key_1.x",
	} {
		w.newBrowser().get(path).wants(t, http.StatusGone, "This link is no longer valid")
		if w.newBrowser().post(path, chosen(goodPassword)).Status != http.StatusGone {
			t.Errorf("%s: it was taken", name)
		}
	}
	w.newBrowser().get(good).wants(t, 200)
}

// A link that is opened in a browser where somebody is signed in is for whom it
// was made.
func TestLinkOfAnother(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	b.post(w.link("usr_ada"), chosen(goodPassword)).wants(t, 303)
	b.get("/account").wants(t, 200, "usr_ada")
}

// Two that use one link at once: one of them is let in.
func TestLinkIsUsedOnce(t *testing.T) {
	w := newEnv(t)
	path := w.link("usr_ada")
	statuses := make(chan int)
	for range 4 {
		b := w.newBrowser()
		go func() { statuses <- b.post(path, chosen(goodPassword)).Status }()
	}
	count := map[int]int{}
	for range 4 {
		count[<-statuses]++
	}
	if count[303] != 1 || count[http.StatusGone] != 3 {
		t.Errorf("the answers were %v", count)
	}
}

func TestForgotten(t *testing.T) {
	w := newEnv(t)
	queued := make(chan struct{}, 10)
	w.restart(func(c *Config) { c.Mailed = func() { queued <- struct{}{} } })
	w.withPassword("usr_ada")
	w.withPassword("usr_alan")
	var said string
	for _, name := range []string{"ada@acme.example", "usr_ada", "nobody@acme.example", "usr_grace", "", "olga@other.example"} {
		r := w.newBrowser().post("/forgot", url.Values{"name": {name}})
		r.wants(t, 200, "If there is an account")
		if said == "" {
			said = r.Body
		}
		if r.Body != said {
			t.Errorf("%q is told apart", name)
		}
	}
	w.backgroundDone()
	mails := w.mails()
	if len(mails) != 2 || len(queued) != 6 {
		t.Fatalf("%d mails wait, told %d times", len(mails), len(queued))
	}
	for _, m := range mails {
		if m.To != "ada@acme.example" || m.Template != store.MailSignInLink || m.Values["until"] != "2026-10-06T13:00:02.000Z" {
			t.Errorf("queued %+v", m)
		}
	}
	w.holdsNoLink()
}

func (w *env) mails() (waiting []store.Mail) {
	w.View(func(tx store.Tx) (err error) {
		waiting, err = tx.Mails("", 100)
		return err
	})
	return waiting
}

// holdsNoLink holds the store to holding no sign-in link.
func (w *env) holdsNoLink() {
	w.Helper()
	w.View(func(tx store.Tx) error {
		links, err := tx.SignInLinks("", 9)
		if len(links) > 0 {
			w.Errorf("there are %d links", len(links))
		}
		return err
	})
}

// An address that no org knows the person by any more gets nothing.
func TestForgottenByAnOldAddress(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	email := "ada@new.example"
	err := w.Store.Update(context.Background(), store.All, func(tx store.Tx) error {
		_, err := store.ChangeMember(tx, "", "org_acme", "usr_ada", store.MemberChange{Email: &email})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.newBrowser().post("/forgot", url.Values{"name": {"ada@acme.example"}}).wants(t, 200)
	w.backgroundDone()
	for _, m := range w.mails() {
		t.Errorf("mail goes to %s", m.To)
	}
}

func TestForgottenWithoutMail(t *testing.T) {
	w := newEnv(t)
	w.restart(func(c *Config) { c.Mailed = nil })
	w.withPassword("usr_ada")
	w.newBrowser().get("/forgot").wants(t, 200, "sends no mail", "teamdata signin-link USER")
	w.newBrowser().post("/forgot", url.Values{"name": {"usr_ada"}}).wants(t, 200, "sends no mail")
	w.backgroundDone()
	if n := len(w.mails()); n > 0 {
		t.Errorf("%d mails wait", n)
	}
}
