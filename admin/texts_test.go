package admin

import (
	"strings"
	"testing"

	"teamdata/store"
)

// notAddresses can't be written to, or not as they are.
var notAddresses = []string{
	"ada", "not an address, other@x.example", "ada@acme.example, eve@x.example", "ada@acme.example\r\nBcc: eve@x.example",
	"Ada <ada@acme.example>", "<ada@acme.example>", " ada@acme.example", "ada@acme.example ", `"ada lovelace"@acme.example`, "ada@acme.example (Ada)",
	"@acme.example", "ada@", "ada@@acme.example", "a..b@acme.example", "ada@acme..example", "ada\u0085@acme.example", "ada\u202e@acme.example",
	strings.Repeat("a", 242) + "@acme.example",
}

func TestAddressesAreChecked(t *testing.T) {
	env := newTestEnv(t)
	before := env.everything()
	for _, address := range notAddresses {
		email := `"email":` + string(store.AppendJSONString(nil, address))
		env.wantError(env.do("POST", "/orgs/org_acme/members", `{"userId":"u","role":"owner",`+email+`}`), store.CodeBadRequest, "email: is not a mail address; write one such as ")
		env.wantError(env.do("PATCH", "/orgs/org_acme/members/usr_ada", `{`+email+`}`), store.CodeBadRequest, "email: is not a mail address; ")
	}
	if after := env.everything(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	for _, address := range []string{"", "ada@acme.example", "a.d+a@mail", "ada@büro.example", "o'hara@acme.example", strings.Repeat("a", 241) + "@acme.example"} {
		got := env.do("PATCH", "/orgs/org_acme/members/usr_ada", `{"email":`+string(store.AppendJSONString(nil, address))+`}`)
		equal(t, address, got.Status, 200)
	}
}

// What people see in one line is one.
func TestControlCharactersAreRefused(t *testing.T) {
	env := newTestEnv(t)
	before := env.everything()
	for _, control := range []string{"\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\u0085", "\u009b"} {
		text := string(store.AppendJSONString(nil, "a"+control+"b"))
		for _, test := range []struct{ method, path, body, field string }{
			{"POST", "/orgs", `{"name":TEXT}`, "name"},
			{"POST", "/orgs", `{"name":"n","subscription":{"interval":TEXT}}`, "subscription.interval"},
			{"PATCH", "/orgs/org_acme", `{"name":TEXT}`, "name"},
			{"PUT", "/orgs/org_acme/subscription", `{"product":TEXT}`, "product"},
			{"POST", "/orgs/org_acme/members", `{"userId":"u","role":TEXT}`, "role"},
			{"POST", "/orgs/org_acme/members", `{"userId":"u","role":"r","name":TEXT}`, "name"},
			{"PATCH", "/orgs/org_acme/members/usr_bob", `{"role":TEXT}`, "role"},
			{"PATCH", "/orgs/org_acme/members/usr_bob", `{"name":TEXT}`, "name"},
			{"POST", "/orgs/org_acme/keys", `{"name":TEXT,"scopes":["read"],"createdBy":"usr_ada"}`, "name"},
			{"POST", "/orgs/org_acme/endpoints", hook(`"url":"https://a.example/","description":TEXT`), "description"},
			{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"description":TEXT}`, "description"},
			{"POST", "/orgs/org_acme/files", `{"name":TEXT,"contentType":"t","size":0}`, "name"},
			{"POST", "/orgs/org_acme/files", `{"name":"n","contentType":TEXT,"size":0}`, "contentType"},
			{"PUT", "/event-types/a.b", `{"description":TEXT}`, "description"},
			{"POST", "/operator-tokens", `{"name":TEXT}`, "name"},
		} {
			got := env.do(test.method, test.path, strings.Replace(test.body, "TEXT", text, 1))
			env.wantError(got, store.CodeBadRequest, test.field+": holds the control character U+00")
		}
	}
	if after := env.everything(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	equal(t, "instructions of several lines", env.do("PUT", "/orgs/org_acme/instructions", `{"instructions":"Be\n\tbrief.\u0000"}`).Status, 200)
}

// A record that was there before the rules can still be changed otherwise.
func TestWhatStaysIsNotChecked(t *testing.T) {
	env := newTestEnv(t)
	env.Update(func(tx store.Tx) error {
		_, err := tx.AppendMember(store.Member{OrgID: "org_acme", UserID: "usr_old", Role: "a\nrole", Name: "a\nname", Email: "no address"})
		if err != nil {
			return err
		}
		e, err := tx.Endpoint("org_acme", "whe_1")
		if e.Description = "two\nlines"; err == nil {
			err = tx.PutEndpoint(e)
		}
		return err
	})
	equal(t, "an endpoint's URL", env.do("PATCH", "/orgs/org_acme/endpoints/whe_1", `{"url":"https://b.example/"}`).Status, 200)
	for _, body := range []string{`{"name":"Old"}`, `{"role":"member"}`, `{"email":"old@acme.example"}`} {
		equal(t, body, env.do("PATCH", "/orgs/org_acme/members/usr_old", body).Status, 200)
	}
}
