package admin

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"teamdata/store"
)

// walk follows the pages of a list, and returns the name of each item.
func (env *testEnv) walk(path, name string, limit int) (names []string) {
	env.Helper()
	path, filter, _ := strings.Cut(path, "?")
	query := fmt.Sprintf("%s&limit=%d", filter, limit)
	for range 3000 {
		got := env.do("GET", path+"?"+query, "")
		var page struct {
			Data    []map[string]any
			Next    *string
			HasMore bool
		}
		if err := json.Unmarshal([]byte(got.Body), &page); err != nil || got.Status != 200 {
			env.Fatalf("%d %s", got.Status, got.Body)
		}
		for _, item := range page.Data {
			names = append(names, item[name].(string))
		}
		if len(page.Data) > limit || page.HasMore && page.Next == nil {
			env.Fatalf("limit %d: %s", limit, got.Body)
		}
		if !page.HasMore {
			return names
		}
		query = fmt.Sprintf("%s&limit=%d&after=%s", filter, limit, url.QueryEscape(*page.Next))
	}
	env.Fatal("the pages don't end")
	return nil
}

// Every list shows each of its items once, in its order, at any size of page.
func TestPages(t *testing.T) {
	env := newTestEnv(t)
	for i := range 7 {
		env.Update(func(tx store.Tx) error { return more(tx, fmt.Sprintf("%c", 'a'+i)) })
	}
	for path, list := range map[string]struct {
		name string
		want int
	}{
		"/orgs":                          {"id", 9},
		"/orgs/org_acme/members":         {"userId", 9},
		"/orgs/org_acme/keys":            {"id", 8},
		"/orgs/org_acme/endpoints":       {"id", 8},
		"/orgs/org_acme/audit-log":       {"id", 1},
		"/orgs/org_acme/portal-sessions": {"id", 8},
		"/audit-log-ends":                {"orgId", 9},
		"/plans":                         {"name", 12},
		"/event-types":                   {"name", 22},
		"/operator-tokens":               {"id", 8},
		"/orgs/org_other/keys":           {"id", 0},
		"/orgs/org_other/endpoints":      {"id", 0},
	} {
		all := fmt.Sprint(env.walk(path, list.name, 100))
		equal(t, path, len(env.walk(path, list.name, 100)), list.want)
		for limit := 1; limit <= 15; limit++ {
			equal(t, fmt.Sprintf("%s by %d", path, limit), fmt.Sprint(env.walk(path, list.name, limit)), all)
		}
	}
}

// more adds one of everything that is listed.
func more(tx store.Tx, name string) error {
	for _, step := range []func() error{
		imports(store.ImportOrg, tx, store.Org{ID: name, Name: name}),
		imports(store.ImportMember, tx, store.Member{OrgID: "org_acme", UserID: name, Role: "r"}),
		imports(store.ImportKey, tx, store.APIKey{OrgID: "org_acme", ID: name, Scopes: store.ScopeRead, CreatedBy: "usr_ada"}),
		imports(store.ImportEndpoint, tx, store.Endpoint{OrgID: "org_acme", ID: name, URL: "https://a.example/", Events: ours}),
		func() error { return store.AddPlan(tx, store.Plan{Name: name}) },
		func() error { return store.ImportOperatorToken(tx, store.OperatorToken{ID: name, Name: name}) },
		func() error {
			return tx.PutSession(store.Session{ID: "ses_" + name, UserID: "u", CreatedAt: tx.Now(), LastSeenAt: tx.Now(), Portal: store.Portal{OrgID: "org_acme", Role: store.RoleViewer}})
		},
		func() error { return tx.PutEventType(store.EventType{Name: name}) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// A page goes on where it ended when what its cursor names is gone, and an empty
// one hands back the cursor that was given.
func TestCursors(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("GET", "/orgs?after=0.org_a", ""), 200, `{"data":[{"id":"org_acme"{{*}}`)
	env.wantAnswer(env.do("GET", "/orgs?after=0.org_b", ""), 200, `{"data":[{"id":"org_other"{{*}}`)
	env.wantAnswer(env.do("GET", "/orgs?after=0.z", ""), 200, `{"data":[],"next":"0.z","hasMore":false}`)
	env.wantAnswer(env.do("GET", "/plans?after=3.selfHosted", ""), 200, `{"data":[{"name":"pro"{{*}}`)
	env.wantAnswer(env.do("GET", "/orgs/org_other/keys", ""), 200, `{"data":[],"next":null,"hasMore":false}`)
	for _, path := range []string{"/orgs", "/plans", "/orgs/org_acme/members", "/orgs/org_acme/deliveries"} {
		env.wantError(env.do("GET", path+"?after=x", ""), store.CodeBadRequest, "after: ")
		env.wantError(env.do("GET", path+"?limit=101", ""), store.CodeBadRequest, "limit: ")
		env.wantError(env.do("GET", path+"?limit=1&limit=1", ""), store.CodeBadRequest, "limit: ")
	}
}
