package settings

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/fips140"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	vw "github.com/descope/virtualwebauthn"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// device is an authenticator with one passkey, in a browser on the env's page.
type device struct {
	*browser
	site          vw.RelyingParty
	authenticator vw.Authenticator
	credential    vw.Credential
}

// passkeyID is the id of a passkey in paths and in what a browser sends.
func passkeyID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// newPasskeyEnv is an env whose page has a name.
func newPasskeyEnv(t *testing.T) (*env, *notes) {
	t.Helper()
	w := newEnv(t)
	log := w.restart(func(c *Config) { c.PublicURL = "https://data.example.com" })
	w.withPassword("usr_ada")
	return w, log
}

// newCredential is one whose key the library writes down as authenticators do: it
// leaves out the zeros that one key in 128 begins with.
func newCredential(t testing.TB) vw.Credential {
	t.Helper()
	for {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		kit.Must(t, err)
		if key.X.BitLen() <= 248 || key.Y.BitLen() <= 248 {
			continue
		}
		encoded, err := x509.MarshalPKCS8PrivateKey(key)
		kit.Must(t, err)
		return vw.NewCredentialWithImportedKey(vw.KeyTypeEC2, encoded)
	}
}

func newDevice(b *browser, userID string) *device {
	return &device{
		browser: b, site: vw.RelyingParty{ID: "data.example.com", Name: "teamdata", Origin: "https://data.example.com"},
		authenticator: vw.NewAuthenticatorWithOptions(vw.AuthenticatorOptions{UserHandle: []byte(userID)}),
		credential:    newCredential(b),
	}
}

// asked begins a ceremony, and is what the authenticator is asked.
func (d *device) asked(what string) string {
	d.Helper()
	r := d.post("/passkeys/"+what+"/begin", url.Values{"old": {goodPassword}})
	r.wants(d, 200, `"challenge"`)
	return r.Body
}

func (d *device) created(options string) string {
	d.Helper()
	o, err := vw.ParseAttestationOptions(options)
	kit.Must(d, err)
	return vw.CreateAttestationResponse(d.site, d.authenticator, d.credential, *o)
}

func (d *device) signed(options string) string {
	d.Helper()
	o, err := vw.ParseAssertionOptions(options)
	kit.Must(d, err)
	var response string
	fips140.WithoutEnforcement(func() { // of weak keys: a device may have one
		response = vw.CreateAssertionResponse(d.site, d.authenticator, d.credential, *o)
	})
	return response
}

func (d *device) finish(what, credential string) reply {
	d.Helper()
	return d.post("/passkeys/"+what+"/finish", url.Values{"credential": {credential}, "name": {"Laptop"}, "next": {"/settings/orgs"}})
}

// withPasskey is a device of usr_ada, in a browser where nobody is signed in.
func (w *env) withPasskey() *device {
	w.Helper()
	d := newDevice(w.signedIn("usr_ada"), "usr_ada")
	d.finish("add", d.created(d.asked("add"))).wants(w, 200, `"location":"/settings/account?done=passkey-added"`)
	d.browser = w.newBrowser()
	return d
}

func TestPasskey(t *testing.T) {
	w, log := newPasskeyEnv(t)
	d := newDevice(w.signedIn("usr_ada"), "usr_ada")
	d.get("/account").wants(t, 200, "No passkeys yet", `data-passkey="add"`)
	options := d.asked("add")
	for _, want := range []string{`"rp":{"name":"teamdata","id":"data.example.com"}`, `"userVerification":"required"`, `"residentKey":"required"`, `"attestation":"none"`} {
		if !strings.Contains(options, want) {
			t.Errorf("the options lack %s: %s", want, options)
		}
	}
	d.finish("add", d.created(options)).wants(t, 200, `"location":"/settings/account?done=passkey-added"`)
	d.get("/account").wants(t, 200, "Laptop", "never")

	d.browser = w.newBrowser()
	d.get("/sign-in").wants(t, 200, `data-passkey="sign-in"`)
	for range 2 {
		d.credential.Counter++
		d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, 200, `{"location":"/settings/orgs"}`)
	}
	d.get("/account").wants(t, 200, "usr_ada")
	if count := w.signCount(); count != 2 {
		t.Errorf("the count that is kept is %d", count)
	}
	for _, want := range []string{`"how":"passkey","message":"settings: signed in"`, "settings: a passkey was added"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// signCount is what is kept of usr_ada's only passkey.
func (w *env) signCount() (count int) {
	w.Helper()
	w.View(func(tx store.Tx) error {
		a, err := tx.Account("usr_ada")
		if err != nil {
			return err
		}
		var c struct{ Authenticator struct{ SignCount int } }
		if a.Passkeys[0].LastUsedAt.IsZero() {
			w.Error("it was never used")
		}
		err = json.Unmarshal(a.Passkeys[0].Credential, &c)
		count = c.Authenticator.SignCount
		return err
	})
	return count
}

func TestPasskeyRefused(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	good := w.withPasskey()
	good.credential.Counter = 5
	good.finish("sign-in", good.signed(good.asked("sign-in"))).wants(t, 200)
	for name, change := range map[string]func(d *device){
		"another site":       func(d *device) { d.site.Origin = "https://evil.example" },
		"another site's id":  func(d *device) { d.site.ID = "evil.example" },
		"another port":       func(d *device) { d.site.Origin = "https://data.example.com:8443" },
		"plain HTTP":         func(d *device) { d.site.Origin = "http://data.example.com" },
		"nobody verified":    func(d *device) { d.authenticator.Options.UserNotVerified = true },
		"nobody there":       func(d *device) { d.authenticator.Options.UserNotPresent = true },
		"another key":        func(d *device) { d.credential.Key = newCredential(w).Key },
		"another id":         func(d *device) { d.credential.ID = []byte("another") },
		"another user":       func(d *device) { d.authenticator.Options.UserHandle = []byte("usr_alan") },
		"no user":            func(d *device) { d.authenticator.Options.UserHandle = nil },
		"nobody's user":      func(d *device) { d.authenticator.Options.UserHandle = []byte("usr_none") },
		"a copy's count":     func(d *device) { d.credential.Counter = 5 },
		"an old count":       func(d *device) { d.credential.Counter = 1 },
		"flags that changed": func(d *device) { d.authenticator.Options.BackupEligible = true },
	} {
		d := *good
		d.browser, d.credential.Counter = w.newBrowser(), 6
		change(&d)
		r := d.finish("sign-in", d.signed(d.asked("sign-in")))
		if r.Status != 401 || d.cookieOf() != "" {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	for _, credential := range []string{"", "{}", "[]", `{"id":"x"}`, strings.Repeat("[", 10000)} {
		good.finish("sign-in", credential).wants(t, 401)
	}
	if count := w.signCount(); count != 5 {
		t.Errorf("the count that is kept is %d", count)
	}
}

// A challenge is good once, for five minutes, for what it was asked for, and in
// the session that asked.
func TestChallenges(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	d.credential.Counter = 1
	answer := d.signed(d.asked("sign-in"))
	d.finish("sign-in", answer).wants(t, 200)
	d.credential.Counter = 2
	d.finish("sign-in", answer).wants(t, 400, "Try again")

	late := d.signed(d.asked("sign-in"))
	w.Advance(5 * time.Minute)
	d.finish("sign-in", late).wants(t, 400, "took too long")

	own, other := newDevice(w.signedIn("usr_ada"), "usr_ada"), newDevice(w.signedIn("usr_ada"), "usr_ada")
	other.finish("add", other.created(own.asked("add"))).wants(t, 400)
	own.finish("add", own.created(d.asked("sign-in"))).wants(t, 400)
	d.finish("sign-in", d.signed(own.asked("add"))).wants(t, 400)
	answer = own.created(own.asked("add"))
	at, _ := url.Parse(w.server.URL)
	own.client.Jar.SetCookies(at, w.signedIn("usr_ada").client.Jar.Cookies(at))
	own.finish("add", answer).wants(t, 400) // in another session than it began in
	stranger := newDevice(w.newBrowser(), "usr_ada")
	stranger.finish("add", stranger.created(own.asked("add"))).wants(t, 401)
	stranger.post("/passkeys/add/begin", nil).wants(t, 401, "Sign in again")
}

// An answer that was good is not good again, from an authenticator that doesn't count.
func TestChallengeIsGoodOnce(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	w.Advance(4 * time.Minute)
	answer := d.signed(d.asked("sign-in"))
	at, _ := url.Parse(w.server.URL)
	kept := d.client.Jar.Cookies(at)
	d.finish("sign-in", answer).wants(t, 200)
	for range 2 { // the second time it is among those of before
		d.browser = w.newBrowser()
		d.client.Jar.SetCookies(at, kept)
		d.finish("sign-in", answer).wants(t, 400, "was already done")
		w.Advance(2 * time.Minute)
		w.withPasskey()
	}
}

// A client makes only so many requests about passkeys.
func TestCeremoniesAreBounded(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := newDevice(w.newBrowser(), "usr_ada")
	for range 120 {
		d.post("/passkeys/sign-in/begin", nil).wants(t, 200)
	}
	d.post("/passkeys/sign-in/begin", nil).wants(t, 429, "Too many attempts")
}

func TestRemovePasskey(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	b := w.signedIn("usr_ada")
	path := "/account/passkeys/" + passkeyID(d.credential.ID) + "/remove"
	w.signedIn("usr_alan").post(path, nil).wants(t, 404)
	b.get(path).wants(t, 200, "Laptop", "You can no longer sign in with it")
	b.get("/account").wants(t, 200, "Laptop")
	b.post(path, nil).wants(t, 303)
	b.get(path).wants(t, 404)
	d.credential.Counter = 1
	d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, 401)
	want := "usr_ada account.signedIn usr_ada\nusr_ada passkey.added usr_ada\nusr_ada passkey.removed usr_ada\n account.signInRefused usr_ada"
	if got := w.audited(); got != want {
		t.Errorf("the audit log has\n%s\nand not\n%s", got, want)
	}
}

// The same device is not added twice, and no passkey without a name.
func TestPasskeyIsNotAdded(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	d.browser = w.signedIn("usr_ada")
	options := d.asked("add")
	if !strings.Contains(options, passkeyID(d.credential.ID)) {
		t.Errorf("the browser is not told of the passkey that is there: %s", options)
	}
	d.finish("add", d.created(options)).wants(t, 409, "has this passkey already")
	fresh := newDevice(d.browser, "usr_ada")
	r := fresh.post("/passkeys/add/finish", url.Values{"credential": {fresh.created(fresh.asked("add"))}})
	r.wants(t, 400, "message")
	if r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("it is answered as %s", r.Header.Get("Content-Type"))
	}
}

// A page at an address instead of a name says why it has no passkeys.
func TestWithoutPasskeys(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get("/account").wants(t, 200, "Passkeys need HTTPS and a host name")
	for _, path := range []string{"/passkeys/add/begin", "/passkeys/add/finish", "/passkeys/sign-in/begin", "/passkeys/sign-in/finish"} {
		b.post(path, nil).wants(t, http.StatusConflict, "--public-url")
	}
	if body := w.newBrowser().get("/sign-in").Body; strings.Contains(body, "data-passkey") {
		t.Error("a passkey is offered where there is none")
	}
}

// A passkey works while its owner has used up the tries with a password, and not
// after the owner lost the role.
func TestPasskeyAndLimits(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	w.try(10, "192.0.2.1:1", "usr_ada")
	d.credential.Counter = 1
	d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, 200)
	w.setRole("usr_alan", store.RoleOwner)
	w.setRole("usr_ada", store.RoleMember)
	w.Update(func(tx store.Tx) error { return store.RemoveMember(tx, "", "org_other", "usr_ada") })
	w.Advance(time.Second)
	d.credential.Counter = 2
	d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, 401)
	if !strings.Contains(d.get("").location(), "/sign-in") {
		t.Error("the session goes on")
	}
}
