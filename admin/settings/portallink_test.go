package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// portalLink makes a portal link of org_acme, and returns its path.
func (w *env) portalLink(userID, role string) string {
	w.Helper()
	var token string
	w.Update(func(tx store.Tx) (err error) {
		_, token, err = store.CreatePortalLink(tx, "opr_1", userID, store.Portal{OrgID: "org_acme", Role: role, Name: "Gästin <b>"}, time.Hour)
		return err
	})
	return "/link/" + token
}

// inPortal is a browser with a portal session of org_acme.
func (w *env) inPortal(userID, role string) *browser {
	w.Helper()
	b := w.newBrowser()
	b.enterPortal(w.portalLink(userID, role))
	return b
}

func (b *browser) enterPortal(path string) {
	b.Helper()
	if r := b.post(path, nil); r.Status != 303 || r.location() != "/settings/orgs/org_acme" {
		b.Fatalf("%d %s: %.500s", r.Status, r.location(), r.Body)
	}
}

const appOrigin = "https://app.example"

// inFrame lets a browser show the page in a frame of appOrigin.
func (b *browser) inFrame() *browser {
	b.client.Transport = framing{b.client.Transport, "Sec-Fetch-Dest", "iframe"}
	return b
}

// framing sends a header with each request, as a browser does from a frame.
type framing struct {
	http.RoundTripper
	name, value string
}

func (f framing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(f.name, f.value)
	return f.RoundTripper.RoundTrip(r)
}

func (w *env) withFrames() *notes {
	w.Helper()
	return w.restart(func(c *Config) { c.FrameAncestors = []string{appOrigin, "self"} })
}

// A portal link is not used up by being opened, signs in once, and adds nobody to the
// members; the log and the audit log tell of it, without its token.
func TestPortalLink(t *testing.T) {
	w := newEnv(t)
	log := w.restart(func(*Config) {})
	path := w.portalLink("usr_guest", store.RoleViewer)
	for range 3 {
		w.newBrowser().get(path).wants(t, 200, "Continue to <bdi>acme</bdi>", "<bdi>Gästin &lt;b&gt;</bdi>", "see everything but secrets", ">Continue</button>")
	}
	b := w.newBrowser()
	b.enterPortal(path)
	page := b.get("/orgs/org_acme")
	page.wants(t, 200, "<bdi>Gästin &lt;b&gt;</bdi>", `action="/settings/sign-out"`)
	if strings.Contains(page.Body, "/settings/account\"") || strings.Contains(page.Body, "#passkeys") {
		t.Error("the page leads to an account that there is not")
	}
	b.get("").wants(t, 303)
	b.get("/orgs").wants(t, 200, "acme")
	if r := b.get("/sign-in"); r.Status != 303 || r.location() != Path {
		t.Errorf("the sign-in page answers %d %s", r.Status, r.location())
	}
	b.get("/orgs/org_other").wants(t, 404)
	b.get("/orgs/org_acme/members").wants(t, 200, "usr_ada")
	for _, r := range []reply{w.newBrowser().get(path), w.newBrowser().post(path, nil), w.newBrowser().post(path, chosen(goodPassword))} {
		r.wants(t, http.StatusGone, "This link is no longer valid", "open the page again there")
	}
	want := "opr_1 portalLink.created usr_guest\nusr_guest portalLink.used usr_guest"
	if got := w.audited(); got != want {
		t.Errorf("the audit log has\n%s\nand not\n%s", got, want)
	}
	b.get("/orgs/org_acme/audit-log").wants(t, 200, "created a portal link for ", "signed in through a portal link")
	if r := b.post("/sign-out", nil); r.Status != 303 || r.location() != "/settings/sign-in?done=signed-out" {
		t.Errorf("signing out answers %d %s", r.Status, r.location())
	}
	b.get("/orgs/org_acme").wants(t, 303)
	if token := strings.TrimPrefix(path, "/link/"); strings.Contains(log.String(), token) {
		t.Errorf("the log has the token:\n%s", log)
	}
	if line := `"how":"portal link","org":"org_acme","role":"viewer","message":"settings: signed in"`; !strings.Contains(log.String(), line) {
		t.Errorf("the log lacks %s:\n%s", line, log)
	}
}

// Through a portal link as viewer an owner, too, changes nothing; as admin, somebody who
// is no member manages the org, and nobody has an account.
func TestPortalLinkGrantsItsRole(t *testing.T) {
	s := newAttacker(t)
	some := func(param string) string { return cmp.Or(s.mine(param), "x") }
	for _, user := range []string{"usr_ada", "usr_grace", "usr_guest"} {
		b := s.inPortal(user, store.RoleViewer)
		before := s.file()
		for _, rt := range routes {
			switch {
			case strings.HasPrefix(rt.path, "/orgs/:org") && (rt.method == http.MethodPost || rt.access != viewers):
				b.do(rt.method, s.fill(rt.path, some), formOfAnother()).wants(t, 403, "Your role is viewer")
			case strings.HasPrefix(rt.path, "/account") && rt.path != "/account/theme", strings.HasPrefix(rt.path, "/passkeys/add"):
				b.do(rt.method, somePath(rt), url.Values{"password": {goodPassword}, "again": {goodPassword}}).wants(t, 403, "have no account on this server")
			}
		}
		if s.file() != before {
			t.Errorf("a viewer's portal session of %s has changed the file", user)
		}
	}
	b := s.inPortal("usr_guest", store.RoleAdmin)
	form := url.Values{"url": {"https://acme.example/portal"}, "events": {"member.added"}}
	if r := b.post("/orgs/org_acme/new-endpoint", form); r.Status >= 400 {
		t.Errorf("an admin's portal session adds no endpoint: %d %.2000s", r.Status, r.Body)
	}
	b.post("/orgs/org_acme/new-key", url.Values{"name": {"k"}, "scopes": {"read"}, "expiry": {"never"}}).wants(t, 400)
	b.post("/orgs/org_other/new-endpoint", form).wants(t, 404)
	s.setRole("usr_grace", store.RoleViewer)
	for _, rt := range routes {
		if strings.HasPrefix(rt.path, "/orgs/:org/new-member") || strings.HasPrefix(rt.path, "/orgs/:org/members/:member/") {
			path := strings.NewReplacer(":org", "org_acme", ":member", "usr_grace").Replace(rt.path)
			b.do(rt.method, path, url.Values{"email": {"new@acme.example"}, "role": {"admin"}}).wants(t, 403, "come from the application")
		}
	}
	for _, path := range []string{"/orgs/org_acme/members", "/orgs/org_acme/members/usr_grace"} {
		if r := b.get(path); r.Status != 200 || strings.Contains(r.Body, "new-member") || strings.Contains(r.Body, "/usr_grace/r") || strings.Contains(r.Body, "/invite") {
			t.Errorf("%s offers to change members: %d", path, r.Status)
		}
	}
	b.get("/account").wants(t, 403)
	if got := s.audited(); !strings.Contains(got, "usr_guest endpoint.created ") {
		t.Errorf("the audit log has\n%s", got)
	}
}

// A portal session ends with the membership that the person had, and with its time.
func TestPortalSessionEnds(t *testing.T) {
	w := newEnv(t)
	w.withFrames()
	demoted, framed, old := w.inPortal("usr_alan", store.RoleAdmin), w.newBrowser().inFrame(), w.inPortal("usr_guest", store.RoleViewer)
	framed.enterPortal(w.portalLink("usr_alan", store.RoleAdmin))
	unused := w.portalLink("usr_alan", store.RoleAdmin)
	framed.get("/orgs/org_acme").wants(t, 200)
	w.setRole("usr_alan", store.RoleMember)
	if r := demoted.get("/orgs/org_acme"); r.Status != 303 || !strings.HasPrefix(r.location(), "/settings/sign-in?done=session-ended") {
		t.Errorf("after the role has changed: %d %s", r.Status, r.location())
	}
	framed.get("/orgs/org_acme").wants(t, 401, "Open this page again")
	framed.post("/orgs/org_acme/new-endpoint", url.Values{"url": {"https://acme.example/x"}}).wants(t, 401, "Open this page again")
	w.newBrowser().get(unused).wants(t, http.StatusGone)
	old.get("/orgs/org_acme").wants(t, 200)
	w.Advance(store.PortalSessionAge)
	old.get("/orgs/org_acme").wants(t, 303)

	ended, stays := w.inPortal("usr_guest", store.RoleViewer), w.inPortal("usr_guest", store.RoleViewer)
	w.Update(func(tx store.Tx) error {
		sessions, _, _, err := store.PortalSessions(tx, "org_acme", "", 1)
		if err != nil {
			return err
		}
		return store.EndPortalSession(tx, "opr_1", "org_acme", sessions[0].ID)
	})
	ended.get("/orgs/org_acme").wants(t, 303)
	stays.get("/orgs/org_acme/audit-log").wants(t, 200, "ended the portal session of ")
	w.Update(func(tx store.Tx) error { return store.DeleteOrg(tx, "org_acme") })
	stays.get("/orgs/org_acme").wants(t, 303)
}

// A link that lets a password be chosen does nothing in a frame, and a session of an
// account counts for nothing there, whatever cookie it is in.
func TestNoAccountInAFrame(t *testing.T) {
	w := newEnv(t)
	w.withFrames()
	path := w.link("usr_ada")
	b := w.newBrowser().inFrame()
	for _, r := range []reply{b.get(path), b.post(path, chosen(goodPassword))} {
		r.wants(t, http.StatusGone, "Open this page again")
		if r.Header.Get("Set-Cookie") != "" || strings.Contains(r.Body, "<form") {
			t.Errorf("in a frame the link answers %v %s", r.Header, r.Body)
		}
	}
	w.newBrowser().post(path, chosen(goodPassword)).wants(t, 303) // it was not used up

	account := w.signedIn("usr_ada")
	at, _ := url.Parse(w.server.URL)
	own := account.client.Jar.Cookies(at)[0]
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: own.Name + "-portal", Value: own.Value, Path: "/", Secure: true}})
	b.get("/orgs/org_acme").wants(t, 401, "Open this page again")
	b.post("/sign-out", nil).wants(t, 401)
	b.enterPortal(w.portalLink("usr_guest", store.RoleViewer))
	account.get("/account").wants(t, 200)
}

// In a frame of an allowed site there are portal sessions and nothing else: neither
// counts where the other does. Elsewhere nothing is framed.
func TestPortalInAFrame(t *testing.T) {
	w := newEnv(t)
	w.withFrames()
	b := w.newBrowser().inFrame()
	path := w.portalLink("usr_guest", store.RoleViewer)
	framable := func(r reply, want bool) {
		t.Helper()
		csp, options := r.Header.Get("Content-Security-Policy"), r.Header.Get("X-Frame-Options")
		if want != (strings.HasSuffix(csp, "; frame-ancestors "+appOrigin+" 'self'") && options == "") {
			t.Errorf("framable is %v, with %q and %q", !want, csp, options)
		}
		if !want && (!strings.HasSuffix(csp, "; frame-ancestors 'none'") || options != "DENY") {
			t.Errorf("nobody may frame it, with %q and %q", csp, options)
		}
	}
	framable(b.get(path), true)
	framable(w.newBrowser().get(path), false)
	used := b.post(path, nil)
	used.wants(t, 303)
	if cookie := used.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-teamdata-portal=ses_") || !strings.HasSuffix(cookie, "; HttpOnly; Secure; SameSite=None; Partitioned") {
		t.Errorf("the cookie is %q", cookie)
	}
	page := b.get("/orgs/org_acme")
	page.wants(t, 200, `<a href="/docs" target="_blank">`)
	framable(page, true)
	for _, path := range []string{"/sign-in", "/forgot", "/account", "/account/password"} {
		r := b.get(path)
		r.wants(t, 401, "Open this page again")
		if strings.Contains(r.Body, "<form") {
			t.Errorf("%s has a form in a frame", path)
		}
	}
	b.get(path).wants(t, http.StatusGone, "Open this page again")
	b.get("/nothing").wants(t, 404)
	if cookie := b.post("/account/theme", url.Values{"theme": {"dark"}}).Header.Get("Set-Cookie"); !strings.HasSuffix(cookie, "; SameSite=None; Partitioned") {
		t.Errorf("the cookie of the theme is %q", cookie)
	}
	admin := w.newBrowser().inFrame()
	admin.enterPortal(w.portalLink("usr_guest", store.RoleAdmin))
	if cookie := admin.post("/orgs/org_acme/first-hour/hide", nil).Header.Get("Set-Cookie"); !strings.Contains(cookie, "; Path=/settings/orgs/org_acme;") || !strings.HasSuffix(cookie, "; SameSite=None; Partitioned") {
		t.Errorf("the cookie of the hidden checklist is %q", cookie)
	}

	outside := w.newBrowser()
	outside.client.Jar = b.client.Jar
	outside.get("/orgs/org_acme").wants(t, 303)
	script := w.newBrowser()
	script.client.Jar = b.client.Jar
	script.client.Transport = framing{framing{script.client.Transport, "Teamdata-Framed", "yes"}, "Sec-Fetch-Dest", "empty"}
	script.get("/orgs/org_acme").wants(t, 200)

	owner := w.signedIn("usr_ada")
	r := owner.get("/orgs/org_acme")
	r.wants(t, 200)
	framable(r, false)
	owner.inFrame().get("/orgs/org_acme").wants(t, 401, "Open this page again")

	if r := b.post("/sign-out", nil); r.Status != 303 || r.location() != Path {
		t.Errorf("signing out answers %d %s", r.Status, r.location())
	}
	b.get("").wants(t, 401, "Open this page again")

	w.restart(func(*Config) {})
	framable(w.newBrowser().inFrame().get(w.portalLink("usr_guest", store.RoleViewer)), false)
	outside = w.newBrowser().inFrame()
	if cookie := outside.post(w.portalLink("usr_guest", store.RoleViewer), nil).Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-teamdata=ses_") || !strings.HasSuffix(cookie, "; SameSite=Lax") {
		t.Errorf("the cookie is %q where no frames are allowed", cookie)
	}
}
