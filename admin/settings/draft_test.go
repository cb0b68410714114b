package settings

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

var draftField = regexp.MustCompile(`name="draft" value="([^"]+)"`)

// dropped sends a form with a session that has just ended, and returns the draft that
// the sign-in page carries.
func (b *browser) dropped(path string, form url.Values) string {
	b.Helper()
	b.Advance(store.SessionIdle + time.Second)
	return b.carried(path, form)
}

// carried sends a form without a session, and returns the draft that the sign-in page
// carries.
func (b *browser) carried(path string, form url.Values) string {
	b.Helper()
	r := b.post(path, form)
	r.wants(b, 401, "Sign in again to get back what you typed.", "Sign in")
	found := draftField.FindStringSubmatch(r.Body)
	if found == nil {
		b.Fatalf("the sign-in page carries no draft: %s", r.Body)
	}
	return found[1]
}

func (b *browser) signInWith(draft, name string) reply {
	b.Helper()
	return b.post("/sign-in", url.Values{"name": {name}, "password": {goodPassword}, "next": {"/settings/orgs"}, "draft": {draft}})
}

// What a person typed before the session ended is in the form after the sign-in, and
// nothing of it was carried out.
func TestDraft(t *testing.T) {
	const typed = "typed <b>before</b> & “after”\n two"
	w := newEnv(t)
	w.withPassword("usr_ada")
	for path, form := range map[string]url.Values{
		"/orgs/org_acme/instructions":                    {"instructions": {typed}, "version": {""}},
		"/orgs/org_acme/new-key":                         {"name": {typed}, "scopes": {"write"}, "expiry": {"30"}},
		"/orgs/org_acme/new-member":                      {"name": {typed}, "email": {"nina@acme.example"}, "role": {"viewer"}},
		"/orgs/org_acme/new-endpoint":                    {"url": {"https://new.example/hook"}, "description": {typed}, "events": {"member.*"}, "secret": {"whsec_own"}},
		"/orgs/org_other/endpoints/whe_other/settings":   {"url": {"https://new.example/hook"}, "description": {typed}, "events": {"member.*"}},
		"/orgs/org_other/endpoints/whe_other/verify":     {"headers": {typed}, "body": {"{}"}},
		"/orgs/org_acme/endpoints/whe_nothing/verify":    {"headers": {typed}},
		"/orgs/org_unknown/endpoints/whe_nothing/verify": {"headers": {typed}},
	} {
		b := w.signedIn("usr_ada")
		draft := b.dropped(path, form)
		b.post("/sign-in", url.Values{"name": {"usr_ada"}, "password": {"wrong"}, "draft": {draft}}).wants(t, 401, draft)
		r := b.signInWith(draft, "usr_ada")
		if strings.Contains(path, "nothing") {
			r.wants(t, 404)
			continue
		}
		r.wants(t, 200, "What you typed is still here, but was not saved.", `action="/settings`+path+`"`)
		if !strings.Contains(html.UnescapeString(r.Body), typed) || strings.Contains(r.Body, "whsec_own") {
			t.Errorf("%s: the form lacks what was typed, or has the secret: %s", path, r.Body)
		}
		b.get("/account").wants(t, 200)
	}
	w.View(func(tx store.Tx) error {
		keys, err := tx.APIKeys("org_acme", "", 10)
		endpoints, _ := tx.Endpoints("org_acme")
		instructions, _ := tx.Instructions("org_acme")
		if len(keys)+len(endpoints) > 0 || instructions.Set {
			t.Errorf("a draft was carried out: %v %v %v", keys, endpoints, instructions)
		}
		return err
	})
}

// After a sign-in by a passkey, the script sends the draft by itself.
func TestDraftAfterPasskey(t *testing.T) {
	w := newEnv(t)
	draft := w.signedIn("usr_ada").dropped("/orgs/org_acme/new-key", url.Values{"name": {"nightly"}})
	b := w.signedIn("usr_ada")
	b.post("/sign-in/draft", url.Values{"draft": {draft}}).wants(t, 200, `value="nightly"`, "but was not saved")
	w.Advance(time.Minute)
	b.post("/sign-out", nil)
	b.post("/sign-in/draft", url.Values{"draft": {draft}}).wants(t, 401, draft)
}

// Nobody else gets to see a draft, and nobody can make one.
func TestHostileDrafts(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	w.withPassword("usr_alan")
	form := url.Values{"name": {"nightly"}}
	ada := w.signedIn("usr_ada")
	w.Advance(store.SessionIdle + time.Second)
	draft := ada.carried("/orgs/org_acme/new-key", form)
	// The cookie is gone: whose drafts these are is not known.
	unknown, own := ada.carried("/orgs/org_other/new-key", form), ada.carried("/orgs/org_acme/new-key", form)
	for name, row := range map[string]struct {
		draft, user string
		status      int
	}{
		"another person":            {draft, "usr_alan", 303},
		"nobody's, of their org":    {own, "usr_alan", 200},
		"nobody's, of another org":  {unknown, "usr_alan", 404},
		"tampered":                  {draft[:20] + "x" + draft[21:] + "x", "usr_ada", 303},
		"cut":                       {draft[:len(draft)-4], "usr_ada", 303},
		"made up":                   {"eyJQYXR0ZXJuIjoiL3NldHRpbmdzIn0", "usr_ada", 303},
		"sealed for something else": {w.sealedOtherwise(), "usr_ada", 303},
	} {
		r := w.newBrowser().signInWith(row.draft, row.user)
		if r.Status != row.status || strings.Contains(r.Body, "nightly") != (row.status == 200) {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	w.newBrowser().signInWith(draft, "usr_ada").wants(t, 200, "nightly")
	w.Advance(time.Hour)
	if r := w.newBrowser().signInWith(draft, "usr_ada"); r.Status != 303 {
		t.Errorf("an expired draft is shown: %d", r.Status)
	}
	if r := w.signedIn("usr_ada").get("/sign-in/draft"); r.Status != 405 {
		t.Errorf("got %d", r.Status)
	}
}

// sealedOtherwise is a draft that the same key sealed for another purpose.
func (w *env) sealedOtherwise() string {
	w.Helper()
	d := draft{Pattern: Path + "/orgs/:org/new-key", Values: url.Values{"name": {"nightly"}}, At: w.Now()}
	r := w.server.Config.Handler.(*Settings).signin.Request(web.Request{HTTP: httptest.NewRequest(http.MethodGet, Path, nil)})
	sealed, err := r.Seal("passkey use", d)
	if err != nil {
		w.Fatal(err)
	}
	return sealed
}

// A form that has no text to lose leads to the sign-in as before, and one that is too
// large to carry does so too.
func TestNoDraft(t *testing.T) {
	w := newEnv(t)
	b := w.newBrowser()
	for path, form := range map[string]url.Values{
		"/orgs/org_other/endpoints/whe_other/delete": {},
		"/account/password":                          {"old": {"x"}},
		"/orgs/org_acme/instructions":                {"instructions": {strings.Repeat("x", maxForm-100)}},
	} {
		if r := b.post(path, form); r.Status != 303 || !strings.HasPrefix(r.location(), "/settings/sign-in") {
			t.Errorf("%s: %d %s", path, r.Status, r.location())
		}
	}
}
