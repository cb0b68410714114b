package settings

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// invited is a form that invites somebody.
func invited(role, name, email string) url.Values {
	return url.Values{"role": {role}, "name": {name}, "email": {email}, "nonce": {email}}
}

func (w *env) member(userID string) (m store.Member) {
	w.Helper()
	w.View(func(tx store.Tx) (err error) {
		m, err = tx.Member("org_acme", userID)
		return err
	})
	return m
}

// An invitation is one change: the member with the event, the mail and the entries of
// the audit log. A double click invites once.
func TestInviteMember(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", store.EventMemberAdded)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/members").wants(t, 200, `href="/settings/orgs/org_acme/new-member"`)
	b.get("/orgs/org_acme/new-member").wants(t, 200, `value="owner"`, `value="viewer"`, "Send invitation")
	form := invited("viewer", " Nina <b> ", " nina@acme.example ")
	r := b.post("/orgs/org_acme/new-member", form)
	r.wants(t, 303)
	path, _, _ := strings.Cut(strings.TrimPrefix(r.location(), Path), "?")
	if again := b.post("/orgs/org_acme/new-member", form); again.location() != r.location() {
		t.Errorf("a second click leads to %s, not %s", again.location(), r.location())
	}
	b.get(path+"?done=member-invited").wants(t, 200, "The invitation is sent by mail.", "Nina &lt;b&gt;", "nina@acme.example", "Invited, and not signed in yet.", "Invite again")
	b.get("/orgs/org_acme/members").wants(t, 200, "Invited</span>")
	id := path[strings.LastIndex(path, "/")+1:]
	m := w.member(id)
	if !store.ValidID(id) || m.Role != "viewer" || m.Name != "Nina <b>" || m.Email != "nina@acme.example" {
		t.Errorf("added is %+v", m)
	}
	mails := w.mails()
	if len(mails) != 1 || mails[0].To != "nina@acme.example" || mails[0].Template != store.MailSignInLink || mails[0].Values["userId"] != id {
		t.Errorf("the mails are %+v", mails)
	}
	if got := w.audited(); !strings.HasSuffix(got, "usr_ada member.added "+m.ID+"\nusr_ada signInLink.created "+id) {
		t.Errorf("the audit log has\n%s", got)
	}
	if n := len(w.deliveries("whe_1", "", store.EventMemberAdded)); n != 1 {
		t.Errorf("%d events were sent", n)
	}

	b.post(path+"/invite", url.Values{"nonce": {"1"}}).leads(t, path+"?done=member-invited")
	if n := len(w.mails()); n != 2 {
		t.Errorf("invited again, %d mails wait", n)
	}
	w.withPassword(id)
	b.post(path+"/invite", url.Values{"nonce": {"2"}}).wants(t, 409, "They have signed in already.", "Has an account")
	if strings.Contains(b.get(path).Body, "Invite again") {
		t.Error("who has signed in can be invited again")
	}
}

// What is wrong with an invitation is said in the form, which keeps what was entered,
// and nothing is done.
func TestInvitationRefused(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	before := len(w.entries())
	for name, row := range map[string]struct {
		form   url.Values
		status int
		text   string
	}{
		"an address of a member":   {invited("viewer", "Nina", "ALAN@acme.example"), 409, "Alan has this address, and is a member with the role admin already"},
		"no address":               {invited("viewer", "Nina", ""), 400, "E-mail address is missing"},
		"no mail address":          {invited("viewer", "Nina", "Nina <nina@acme.example>"), 400, "is not a mail address"},
		"a role that signs no in":  {invited("member", "Nina", "nina@acme.example"), 400, "Role must be owner, admin, viewer"},
		"no role":                  {invited("", "Nina", "nina@acme.example"), 400, "Role must be"},
		"a name that is too large": {invited("viewer", strings.Repeat("n", 201), "nina@acme.example"), 400, `<a href="#name">Name `},
	} {
		r := b.post("/orgs/org_acme/new-member", row.form)
		r.wants(t, row.status, row.text, "<title>Error: Invite a member", `value="`+row.form.Get("name")+`"`)
		if n := len(w.entries()); n != before {
			t.Fatalf("%s: the audit log has %d entries more", name, n-before)
		}
	}
	if n := len(w.mails()); n > 0 {
		t.Errorf("%d mails wait", n)
	}
}

// Mail to one address is limited, whoever sends it and whatever the person is called.
func TestInvitationsAreLimited(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	path := strings.TrimPrefix(b.post("/orgs/org_acme/new-member", invited("viewer", "Nina", "nina@bücher.example")).location(), Path)
	path, _, _ = strings.Cut(path, "?")
	id := path[strings.LastIndex(path, "/")+1:]
	for _, name := range []string{"nina@xn--bcher-kva.example", id} {
		w.newBrowser().post("/forgot", url.Values{"name": {name}}).wants(t, 200)
		w.backgroundDone()
	}
	b.post(path+"/invite", url.Values{"nonce": {"a"}}).wants(t, 429)
	w.newBrowser().post("/forgot", url.Values{"name": {"NINA@Bücher.example"}}).wants(t, 200)
	w.backgroundDone()
	if n := len(w.mails()); n != 3 {
		t.Errorf("%d mails wait", n)
	}
}

// Whoever invites sends a bounded number of mails, and so do all of an org together.
func TestSendersAreLimited(t *testing.T) {
	w := newEnv(t)
	w.setRole("usr_grace", store.RoleAdmin)
	sent := 0
	invite := func(b *browser, want int) {
		t.Helper()
		sent++
		b.post("/orgs/org_acme/new-member", invited("viewer", "", "n"+strconv.Itoa(sent)+"@acme.example")).wants(t, want)
	}
	for _, user := range []string{"usr_ada", "usr_alan"} {
		b := w.signedIn(user)
		for range 30 {
			invite(b, 303)
		}
		invite(b, 429)
	}
	invite(w.signedIn("usr_grace"), 429) // the org has sent what it may
	w.Advance(15 * time.Minute)
	invite(w.signedIn("usr_grace"), 303)
	if n := len(w.mails()); n != 61 {
		t.Errorf("%d mails wait", n)
	}
}

// Taken sign-in names can't be found by trying: without mail, invitations are limited too.
func TestInvitationsWithoutMailAreLimited(t *testing.T) {
	w := newEnv(t)
	w.restart(func(c *Config) { c.Mailed = nil })
	b, answers := w.signedIn("usr_ada"), map[int]int{}
	for range 31 {
		form := invited("viewer", "Nino", "nino@acme.example")
		form.Set("signInName", "usr_olga")
		answers[b.post("/orgs/org_acme/new-member", form).Status]++
	}
	if answers[409] != 30 || answers[429] != 1 {
		t.Errorf("the answers were %v", answers)
	}
}

var linkShown = regexp.MustCompile(`/settings/link/[\w.-]+`)

// Without a mail server the link is shown, once, with the name to sign in with. It signs
// in as the new member, who comes back by the name and by the address.
func TestInviteWithoutMail(t *testing.T) {
	w := newEnv(t)
	w.restart(func(c *Config) { c.Mailed = nil })
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/new-member").wants(t, 200, "this server sends no mail.", "Invite and show the link", `name="signInName"`)
	form := invited("admin", "Nina", "Nina.Rossi+acme@acme.example")
	r := b.post("/orgs/org_acme/new-member", form)
	r.wants(t, 201, "Copy the link now.", w.server.URL+"/settings/link/", "Nina</bdi> is invited", "Your sign-in name is Nina.Rossiacme.", "Nina.<wbr>Rossi+acme@acme.<wbr>example", "Make another link")
	link := strings.TrimPrefix(linkShown.FindString(r.Body), Path)
	again := b.post("/orgs/org_acme/new-member", form)
	if again.Status != 303 || linkShown.MatchString(again.Body) {
		t.Errorf("sent again: %d %s", again.Status, again.Body)
	}
	path := strings.TrimPrefix(again.location(), Path)
	b.get(path).wants(t, 200, "<dt>Sign-in name</dt><dd>Nina.Rossiacme</dd>")
	b.post(path+"/invite", url.Values{"nonce": {"1"}}).wants(t, 201, "Copy the link now.", "Your sign-in name is Nina.Rossiacme.")
	nina := w.newBrowser()
	nina.get(link).wants(t, 200, "Welcome to <bdi>acme</bdi>", `value="Nina.Rossiacme" autocomplete="username" readonly`, "or with Nina.Rossi&#43;acme@acme.example.")
	nina.post(link, url.Values{"password": {"nina.rossiACME"}}).wants(t, 400, "must not be what you sign in with")
	nina.post(link, url.Values{"password": {goodPassword}}).leads(t, "?done=welcome")
	nina.get("?done=welcome").leads(t, "/orgs/org_acme?done=welcome")
	nina.get("/orgs/org_acme?done=welcome").wants(t, 200, "Your password is set, and you are signed in.", "First hour")
	for _, name := range []string{"Nina.Rossiacme", "nina.rossiacme", "nina.rossi+acme@ACME.example"} {
		back := w.newBrowser()
		back.signIn(name, goodPassword).wants(t, 303)
		back.get("/account").wants(t, 200, "<dt>Sign-in name</dt><dd>Nina.Rossiacme</dd>")
	}
	b.post(path+"/invite", url.Values{"nonce": {"2"}}).wants(t, 409, "They have signed in already.")
	if n := len(w.mails()); n > 0 {
		t.Errorf("%d mails wait", n)
	}

	// A name that is taken is refused, and not told whose; nothing is done.
	entries := len(w.entries())
	for name, status := range map[string]int{"nina.ROSSIacme": 409, "usr_olga": 409, "usr_ada": 409, "ni na": 400} {
		form := invited("viewer", "Nino", "nino@acme.example")
		form.Set("signInName", name)
		r := b.post("/orgs/org_acme/new-member", form)
		r.wants(t, status, `<a href="#signInName">Sign-in name `, `value="`+name+`"`, `id="signInName-error">Sign-in name `)
		if strings.Contains(r.Body, "Rossi+") || strings.Contains(r.Body, "Olga") {
			t.Errorf("%s: the page says whose it is", name)
		}
	}
	if n := len(w.entries()); n != entries {
		t.Errorf("the audit log has %d entries more", n-entries)
	}
	form = invited("viewer", "Nino", "nina.rossiacme@elsewhere.example")
	b.post("/orgs/org_acme/new-member", form).wants(t, 409, "Sign-in name is taken; choose another one.")
	form.Set("signInName", "nino")
	b.post("/orgs/org_acme/new-member", form).wants(t, 201, "Your sign-in name is nino.")
}

// Whoever has an account elsewhere becomes a member with it, and no admin gets to see
// a link to it.
func TestInviteWithAccount(t *testing.T) {
	w := newEnv(t)
	w.Update(func(tx store.Tx) error {
		_, _, err := store.CreateSignInLink(tx, "org_other", "usr_olga", store.InvitationTTL)
		return err
	})
	w.restart(func(c *Config) { c.Mailed = nil })
	b := w.signedIn("usr_alan")
	r := b.post("/orgs/org_acme/new-member", invited("admin", "Olga", "OLGA@other.example"))
	r.wants(t, 201, "This person has an account already")
	if linkShown.MatchString(r.Body) {
		t.Error("the page shows a link to the account of another org’s owner")
	}
	if m := w.member("usr_olga"); m.Role != "admin" {
		t.Errorf("added is %+v", m)
	}
	again := b.post("/orgs/org_acme/members/usr_olga/invite", url.Values{"nonce": {"1"}})
	again.wants(t, 201, "This person has an account already")
	if linkShown.MatchString(again.Body) {
		t.Error("the page shows a link to the account of another org’s owner")
	}
}

// Only owners make owners, and end that.
func TestOnlyOwnersMakeOwners(t *testing.T) {
	w := newEnv(t)
	w.setRole("usr_grace", store.RoleOwner)
	alan := w.signedIn("usr_alan")
	if page := alan.get("/orgs/org_acme/new-member"); strings.Contains(page.Body, `value="owner"`) {
		t.Error("an admin may choose the role owner")
	}
	page := alan.get("/orgs/org_acme/members/usr_grace")
	page.wants(t, 200, "Only an owner can change an owner’s role.")
	if strings.Contains(page.Body, "/usr_grace/") {
		t.Error("an admin has a form for an owner")
	}
	for path, form := range map[string]url.Values{
		"/orgs/org_acme/new-member":                invited("owner", "Nina", "nina@acme.example"),
		"/orgs/org_acme/members/usr_alan/role":     {"role": {"owner"}},
		"/orgs/org_acme/members/usr_grace/role":    {"role": {"viewer"}},
		"/orgs/org_acme/members/usr_grace/remove":  {},
		"/orgs/org_acme/members/usr_grace/invite":  {"nonce": {"1"}},
		"/orgs/org_acme/members/usr_ada/invite":    {"nonce": {"1"}},
		"/orgs/org_acme/members/usr_grace/removed": nil,
	} {
		if form == nil {
			alan.post(path, form).wants(t, 404)
			continue
		}
		alan.post(path, form).wants(t, 403, "Only an owner")
	}
	alan.get("/orgs/org_acme/members/usr_grace/remove").wants(t, 403)
	if m := w.member("usr_alan"); m.Role != "admin" {
		t.Errorf("Alan became %s", m.Role)
	}
}

func TestChangeRole(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/members/usr_grace").wants(t, 200, "<option selected>member</option>", "<option>owner</option>", "Danger zone")
	b.post("/orgs/org_acme/members/usr_grace/role", url.Values{"role": {"viewer"}}).leads(t, "/orgs/org_acme/members/usr_grace?done=role-changed")
	b.get("/orgs/org_acme/members/usr_grace?done=role-changed").wants(t, 200, "The role was changed.", "<option selected>viewer</option>", "Not invited yet.", "Invite</button>")
	b.post("/orgs/org_acme/members/usr_grace/role", url.Values{"role": {""}}).wants(t, 400, "Role is missing")
	b.post("/orgs/org_acme/members/usr_none/role", url.Values{"role": {"admin"}}).wants(t, 404)
	b.post("/orgs/org_acme/members/usr_grace/invite", url.Values{"nonce": {"1"}}).wants(t, 409, "has no address of their own")

	for _, form := range []string{"role", "remove"} { // the last owner
		b.post("/orgs/org_acme/members/usr_ada/"+form, url.Values{"role": {"admin"}}).wants(t, 409, "An org must have at least one owner.", "<title>Error: Ada")
	}
	b.get("/orgs/org_acme/members/usr_alan/remove").wants(t, 200, "Remove this member?", "Alan")
	b.post("/orgs/org_acme/members/usr_alan/remove", nil).leads(t, "/orgs/org_acme/members?done=member-removed")
	b.get("/orgs/org_acme/members/usr_alan").wants(t, 404)
	b.post("/orgs/org_acme/members/usr_alan/remove", nil).wants(t, 404)
}

// Who leaves an org starts over with the others, or is signed out.
func TestLeaveOrg(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	b.get("/orgs/org_acme/members/usr_alan").wants(t, 200, "Leave this org")
	b.post("/orgs/org_acme/members/usr_alan/remove", nil).leads(t, "")
	b.get("").wants(t, 303)
	b.get("/orgs/org_acme").wants(t, 303)
}
