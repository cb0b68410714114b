package admin

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/store"
)

func docs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/admin-api.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// docs/admin-api.md and the routes say the same, in the same order.
func TestRoutesAreDocumented(t *testing.T) {
	var documented, entered []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z]+ /[^`]*)` \\|").FindAllStringSubmatch(docs(t), -1) {
		documented = append(documented, pathParam.ReplaceAllString(row[1], ":$1"))
	}
	for _, rt := range routes {
		entered = append(entered, rt.method+" "+rt.path)
	}
	for i := range max(len(documented), len(entered)) {
		if i >= len(documented) || i >= len(entered) || documented[i] != entered[i] {
			t.Fatalf("row %d\ndocs\n%s\nroutes\n%s", i, strings.Join(documented[min(i, len(documented)):], "\n"), strings.Join(entered[min(i, len(entered)):], "\n"))
		}
	}
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
	w := newWorld(t)
	for _, o := range operations {
		if o = o.in(w); o.method != "GET" || !slices.Contains(shown, strings.Replace(o.path, w.delivery, "$whd", 1)) {
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
	w := newWorld(t)
	for _, path := range []string{"", "/", "/none", "/orgs/", "/orgs//members", "/status/", "/orgs/org_acme/members/", "/orgs/org_acme/none", "/orgs/a%2Fb/none", "/../v1/none"} {
		for _, method := range []string{"GET", "POST", "PATCH", "OPTIONS"} {
			got := w.do(method, path, "{}")
			w.refuses(got, store.CodeNotFound, "There is no such route.")
		}
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t)
	for path, allow := range map[string]string{
		"/status": "GET, HEAD", "/orgs": "GET, HEAD, POST", "/orgs/x": "GET, HEAD, PATCH", "/orgs/x/members/y": "GET, HEAD, PATCH, DELETE",
		"/orgs/x/instructions": "GET, HEAD, PUT, DELETE", "/plans/x": "PUT, DELETE", "/orgs/x/keys/y/revoke": "POST", "/operator-tokens/x": "DELETE",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
			got := w.do(method, path, "")
			if slices.Contains(strings.Split(allow, ", "), method) != (got.status != 405) {
				t.Errorf("%s %s: %d", method, path, got.status)
			}
			if got.status == 405 {
				equal(t, method+" "+path, got.header.Get("Allow"), allow)
			}
		}
	}
}
