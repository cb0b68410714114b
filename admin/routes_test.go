package admin

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

const docsFile = "../docs/admin-api.md"

func docs(t *testing.T) string {
	t.Helper()
	return kit.ReadText(t, docsFile)
}

var fieldName = regexp.MustCompile(`"(\w+)":`)

// The records in docs/admin-api.md have the fields that are answered.
func TestRecordsAreDocumented(t *testing.T) {
	_, rest, _ := strings.Cut(docs(t), "## Records")
	rest, _, _ = strings.Cut(rest, "\n## ")
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(rest, -1)
	var records []string
	for _, block := range blocks {
		records = append(records, strings.Split(strings.TrimSpace(block[1]), "\n\n")...)
	}
	env := newTestEnv(t)
	for _, o := range operations {
		if o = o.in(env); o.method != "GET" || !slices.Contains(shown, strings.Replace(o.path, env.delivery, "$whd", 1)) {
			continue
		}
		record, _, _ := strings.Cut(strings.TrimPrefix(o.answer, `{"data":[`), `],"next"`)
		names := fieldNames(record)
		if !slices.ContainsFunc(records, func(r string) bool { return fieldNames(r) == names }) {
			t.Errorf("no record in the docs has the fields of %s:\n%s", o.path, names)
		}
	}
}

// shown are the operations whose answers the docs show.
var shown = []string{
	"/status", "/orgs/org_acme", "/orgs/org_acme/members/usr_ada", "/orgs/org_acme/audit-log", "/orgs/org_acme/instructions",
	"/orgs/org_acme/keys/key_1", "/orgs/org_acme/endpoints/whe_1", "/orgs/org_acme/endpoints/whe_1/secret", "/operator-tokens",
}

func fieldNames(record string) string {
	var names []string
	for _, m := range fieldName.FindAllStringSubmatch(record, -1) {
		names = append(names, m[1])
	}
	return strings.Join(names, " ")
}

func TestUnknownRoutes(t *testing.T) {
	env := newTestEnv(t)
	for _, path := range []string{"", "/", "/none", "/orgs/", "/orgs//members", "/status/", "/orgs/org_acme/members/", "/orgs/org_acme/none", "/orgs/a%2Fb/none", "/../v1/none"} {
		for _, method := range []string{"GET", "POST", "PATCH", "OPTIONS"} {
			got := env.do(method, path, "{}")
			env.wantError(got, store.CodeNotFound, "There is no such route.")
		}
	}
}

func TestMethods(t *testing.T) {
	env := newTestEnv(t)
	for path, allow := range map[string]string{
		"/status": "GET, HEAD", "/orgs": "GET, HEAD, POST", "/orgs/x": "GET, HEAD, PATCH, DELETE", "/orgs/x/members/y": "GET, HEAD, PUT, PATCH, DELETE",
		"/orgs/x/instructions": "GET, HEAD, PUT, DELETE", "/plans/x": "PUT, DELETE", "/orgs/x/keys/y/revoke": "POST", "/operator-tokens/x": "DELETE",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
			got := env.do(method, path, "")
			if slices.Contains(strings.Split(allow, ", "), method) != (got.Status != 405) {
				t.Errorf("%s %s: %d", method, path, got.Status)
			}
			if got.Status == 405 {
				equal(t, method+" "+path, got.Header.Get("Allow"), allow)
			}
		}
	}
}
