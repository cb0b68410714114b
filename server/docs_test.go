package server

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// docs/errors.md and store.Codes say the same, in the same order.
func TestErrorsAreDocumented(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| \\d{3} \\| `.*$").FindAllString(kit.ReadText(t, "../docs/errors.md"), -1)
	if len(rows) != len(store.Codes) {
		t.Errorf("the page lists %d codes, the catalogue %d", len(rows), len(store.Codes))
	}
	for i, info := range store.Codes {
		want := fmt.Sprintf("| %d | `%s` | %s |", info.Status, info.Code, info.Doc)
		if i < len(rows) && !strings.HasPrefix(rows[i], want) {
			t.Errorf("got  %s\nwant %s", rows[i], want)
		}
	}
}

// Every code that a client can bring about, and every route that needs a key, is
// shown in an exchange. No route of this API looks at If-Match.
func TestExchangesAreComplete(t *testing.T) {
	files, _ := filepath.Glob("../testdata/exchanges/*.txt")
	var all strings.Builder
	for _, file := range files {
		all.WriteString(kit.ReadText(t, file))
	}
	for _, info := range store.Codes {
		if info.Code != store.CodeInternal && info.Code != store.CodePreconditionFailed && !strings.Contains(all.String(), fmt.Sprintf(`"code":"%s"`, info.Code)) {
			t.Errorf("no exchange shows %s", info.Code)
		}
	}
	for _, rt := range routes {
		if rt.scope == 0 {
			continue // the document is too large to be shown
		}
		path := regexp.QuoteMeta(rt.method + " " + basePath + rt.path)
		pattern := strings.ReplaceAll(path, ":id", `\w+`) + `(\?\S*)?\n(> .*\n)+\n< 200 OK`
		if !regexp.MustCompile(pattern).MatchString(all.String()) {
			t.Errorf("no exchange shows %s %s succeed", rt.method, rt.path)
		}
	}
}
