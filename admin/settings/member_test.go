package settings

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

var memberRows = regexp.MustCompile(`<a class="who" href="/settings/orgs/org_acme/members/([^"/]*)"`)

// joins adds n members of many kinds to org_acme, after those who are there.
func (w *env) joins(n int) (all []store.Member) {
	w.Helper()
	pick := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		all = append(all, store.Member{
			OrgID: "org_acme", UserID: fmt.Sprintf("usr_%04d", i), CreatedAt: kit.Noon.Add(time.Duration(i/3) * time.Second), ID: fmt.Sprintf("mem_%04d", i),
			Role:  []string{"member", "guest", "ÖKONOM", "<u>"}[pick.IntN(4)],
			Name:  []string{"", "Zoë <b>Bold", `O'"Neil`, "100%", "Ömer"}[pick.IntN(5)],
			Email: []string{"", "ZOE@acme.example", "neil@other.example"}[pick.IntN(3)],
		})
	}
	w.Update(func(tx store.Tx) error {
		for _, m := range all {
			if _, err := store.ImportMember(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

func TestMembers(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	r := b.get("/orgs/org_acme/members")
	r.wants(t, 200, "usr_ada", "Ada", "ada@acme.example", "usr_grace", "Has an account", "All members, oldest first")
	if n := strings.Count(r.Body, "Has an account"); n != 1 { // Alan has no account
		t.Errorf("%d sign in", n)
	}
	if n := strings.Count(r.Body, `class="cut strong" title=`); n != 2 {
		t.Errorf("%d are marked as managing", n)
	}
	w.Update(func(tx store.Tx) error {
		for _, creator := range []string{"usr_ada", "usr_ada", "usr_grace"} {
			if _, err := store.ImportKey(tx, store.APIKey{OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: creator}); err != nil {
				return err
			}
		}
		return nil
	})
	b.get("/orgs/org_acme/members").wants(t, 200, "2 active", "1 suspended")
	b.get("/orgs/org_acme/members?q=nobody").wants(t, 200, "No members match", "No name, e-mail address, role or ID contains “nobody”.", "All members")
	b.get("/orgs/org_acme/members?q=%3Cscript%3E&after=9.a").wants(t, 200, "&lt;script&gt;", "No more members")
	for _, after := range []string{"x", "1.", "1.%00", "1.a%20b", strings.Repeat("9", 20) + ".a"} {
		b.get("/orgs/org_acme/members?after="+after).wants(t, 400, "This page of the list does not exist")
	}
	w.signedIn("usr_alan").get("/orgs/org_other/members").wants(t, 404)
}

// Whatever is searched for, the pages together have what a plain search finds, in
// its order.
func TestMembersAgainstAModel(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	joined := w.joins(500)
	all := append(joined, store.Member{UserID: "usr_ada", Name: "Ada", Email: "ada@acme.example", Role: "owner"},
		store.Member{UserID: "usr_alan", Name: "Alan", Email: "alan@acme.example", Role: "admin"}, store.Member{UserID: "usr_grace", Name: "Grace", Role: "member"})
	for _, text := range []string{"", "usr_0", "USR_01", "zoë", "ökonom", "Ö", "<b>", `'"`, "%", "acme.example", "guest", "member", "usr_0499", "nobody", "ada"} {
		var want []string
		for _, m := range all {
			if strings.Contains(strings.ToLower(m.UserID+"\n"+m.Name+"\n"+m.Email+"\n"+m.Role), strings.ToLower(text)) {
				want = append(want, m.UserID)
			}
		}
		got := b.walk("/orgs/org_acme/members?q="+url.QueryEscape(text), memberRows)
		// The fixture's members come in any order.
		early := func(id string) bool { return len(id) != len("usr_0000") || id[4] > '9' }
		if !slices.Equal(slices.DeleteFunc(slices.Clone(got), early), slices.DeleteFunc(slices.Clone(want), early)) || len(got) != len(want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	body := b.get("/orgs/org_acme/members").Body
	if strings.Contains(body, "<b>") || strings.Contains(body, "<u>") || !strings.Contains(body, html.EscapeString("Zoë <b>Bold")) {
		t.Error("names or roles are not escaped")
	}
}

// A search reads a bounded number of members for a page, and goes on from there.
func TestMembersBounds(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.joins(2*maxSearched + 10)
	first := b.get("/orgs/org_acme/members?q=usr_4009")
	first.wants(t, 200, "None of the next 2000 members match. There are more.", "Search further")
	if got := b.walk("/orgs/org_acme/members?q=usr_4009", memberRows); !slices.Equal(got, []string{"usr_4009"}) {
		t.Errorf("got %v", got)
	}
}
