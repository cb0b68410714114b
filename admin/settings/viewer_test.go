package settings

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"teamdata/store"
)

// A viewer, member or guest of a portal, at every form and page of the org: no form does
// anything, no page but the viewable ones is shown, and none of those has a secret, a
// signature of now, a form or a link to what would be refused.
func TestViewerAtEveryForm(t *testing.T) {
	s := newAttacker(t)
	s.setRole("usr_grace", store.RoleViewer)
	for _, b := range []*browser{s.signedIn("usr_grace"), s.inPortal("usr_guest", store.RoleViewer)} {
		s.viewEverything(b)
	}
	page := s.get(s.fill("/orgs/:org/deliveries/:delivery", s.mine))
	page.wants(t, 200, "webhook-signature: v1,", `popovertarget="curl"`)
}

func (s *attacker) viewEverything(b *browser) {
	s.Helper()
	some := func(param string) string { return cmp.Or(s.mine(param), "x") }
	before := s.file()
	for _, rt := range routes {
		if rt.method == http.MethodPost && strings.HasPrefix(rt.path, "/orgs/:org") {
			b.post(s.fill(rt.path, some), formOfAnother()).wants(s, 403, "Your role is viewer")
		}
	}
	if s.file() != before {
		s.Error("a form of a viewer has changed the file")
	}
	secrets := append(s.secrets(), "webhook-signature: ", `popovertarget="curl"`)
	for _, rt := range routes {
		if rt.method != http.MethodGet || !strings.HasPrefix(rt.path, "/orgs/:org") {
			continue
		}
		r := b.get(s.fill(rt.path, some))
		switch {
		case rt.access != viewers:
			r.wants(s, 403, "Your role is viewer")
		case r.Status != 200 && r.Status != 303 && r.Status != 400 && r.Status != 404: // 400: without its query; 404: there is no such record
			s.Errorf("%s: %d: %.500s", rt.path, r.Status, r.Body)
		}
		for _, secret := range secrets {
			if strings.Contains(r.Body, secret) {
				s.Errorf("%s shows %s", rt.path, secret)
			}
		}
		for _, form := range formElement.FindAllString(r.Body, -1) {
			if strings.Contains(form, `method="post"`) && !strings.Contains(form, `action="/settings/sign-out"`) && !strings.Contains(form, `action="/settings/account`) {
				s.Errorf("%s has the form %s", rt.path, form)
			}
			if action := actionValue.FindStringSubmatch(form); action != nil && inOrg(action[1]) && !leadsToViewable(action[1]) {
				s.Errorf("%s has a form to %s", rt.path, action[1])
			}
		}
		for _, link := range linkElement.FindAllString(r.Body, -1) {
			if href := hrefValue.FindStringSubmatch(link); href != nil && inOrg(href[1]) && !leadsToViewable(href[1]) {
				s.Errorf("%s leads to %s", rt.path, href[1])
			}
		}
	}
}

// A viewer sees how an endpoint is set up, and no heading without anything below it.
func TestViewersSettingsOfAnEndpoint(t *testing.T) {
	w := newEnv(t)
	w.addEndpoint(store.Endpoint{ID: "whe_1", URL: "https://hooks.example/a", Description: "Billing"})
	w.signedIn("usr_ada").get("/orgs/org_acme/endpoints/whe_1/settings").wants(t, 200, "Danger zone", "Signing secret", `name="events"`)
	w.setRole("usr_grace", store.RoleViewer)
	page := w.signedIn("usr_grace").get("/orgs/org_acme/endpoints/whe_1/settings")
	page.wants(t, 200, "<dd>https://hooks.example/a</dd>", "<bdi>Billing</bdi>", "<li><code>member.added</code></li>", "whe_1</code>")
	for _, empty := range []string{"Danger zone", "Signing secret", `<input class="input"`} {
		if strings.Contains(page.Body, empty) {
			t.Errorf("the page has %s", empty)
		}
	}
}

// A viewer reads the instructions, whose field is in a form.
func TestViewersInstructions(t *testing.T) {
	w := newEnv(t)
	w.Update(func(tx store.Tx) error {
		return store.SetInstructions(tx, "usr_ada", "org_acme", "Answer in English.", true)
	})
	w.setRole("usr_grace", store.RoleViewer)
	w.signedIn("usr_grace").get(instructionsPath).wants(t, 200, "Answer in English.</pre>")
}

// A viewer reads that a member is not invited, and who can do that.
func TestViewersUninvitedMember(t *testing.T) {
	w := newEnv(t)
	w.setRole("usr_grace", store.RoleViewer)
	w.Update(func(tx store.Tx) error {
		_, err := store.AddMember(tx, "usr_ada", store.Member{OrgID: "org_acme", UserID: "usr_new", Role: store.RoleViewer})
		return err
	})
	const path = "/orgs/org_acme/members/usr_new"
	w.signedIn("usr_ada").get(path).wants(t, 200, "once you invite them.")
	w.signedIn("usr_grace").get(path).wants(t, 200, "once an owner or admin invites them.")
}

// secrets are those of org_acme's endpoint.
func (s *attacker) secrets() (secrets []string) {
	s.View(func(tx store.Tx) error {
		e, err := tx.Endpoint("org_acme", "whe_mine")
		for _, secret := range []string{e.Secret, e.OldSecret} {
			if secret != "" {
				secrets = append(secrets, secret, strings.TrimPrefix(secret, "whsec_"))
			}
		}
		return err
	})
	if len(secrets) == 0 {
		s.Fatal("the endpoint has no secret to look for")
	}
	return secrets
}

// A viewer signs in, changes the own password, ends own sessions, and loses the
// account with the role.
func TestViewersOwnAccount(t *testing.T) {
	w := newEnv(t)
	w.setRole("usr_grace", store.RoleViewer)
	w.withPassword("usr_grace")
	b := w.newBrowser()
	b.signIn("usr_grace", goodPassword).wants(t, 303)
	b.get("").wants(t, 303)
	b.get("/orgs/org_acme").wants(t, 200, "acme")
	b.get("/account").wants(t, 200)
	b.post("/account/password", url.Values{"old": {goodPassword}, "password": {goodPassword + " 2"}, "again": {goodPassword + " 2"}}).wants(t, 303)
	b.post("/account/end-other-sessions", nil).wants(t, 303)
	b.get("/orgs/org_other").wants(t, 404)
	w.setRole("usr_grace", store.RoleMember)
	b.get("/orgs/org_acme").wants(t, 303)
}

// meanwhile is a store in which something happens just before each Update.
type meanwhile struct {
	store.Store
	happens func()
}

func (m meanwhile) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	m.happens()
	return m.Store.Update(ctx, scope, fn)
}

// Who becomes a viewer while a form is on its way changes nothing with it.
func TestViewerMeanwhile(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	form := b.get(instructionsPath).edited(t, becomes("Obey."))
	s := w.server.Config.Handler.(*Settings)
	s.store = meanwhile{s.store, func() { w.setRole("usr_alan", store.RoleViewer) }}
	b.post(instructionsPath, form).wants(t, 403, "<h1>Only owners and admins can do that</h1>", "Your role is viewer")
	if w.instructions().Set {
		t.Error("a viewer has set instructions")
	}
}
