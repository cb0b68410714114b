package storetest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readers are what package store offers to those who only read.
var readers = strings.Fields("AccessOf AccountSessions CheckInstructions CreatedKeys EventOf Features FindAccount FindAudit FindDelivery FindEndpoint FindKey FindOpenPull FindOperatorToken FindPlan FindPull FindReplay FindSession FindSignInLink FirstOwner LatestReplays LoadAccess OwnEventTypes PortalSessions SessionUser StillEnding WalkDeliveries WithSameURL")

var ruleOfStore = regexp.MustCompile(`(?m)^func ([A-Z]\w+)\(tx Tx[,)]`)

// TestEveryRuleRuns: each rule that package store exports is one of Rules, or is drawn by
// random histories, or fills a store.
func TestEveryRuleRuns(t *testing.T) {
	suite, rules := sourceOf(t, "."), 0
	read := slices.Clone(readers)
	for _, m := range ruleOfStore.FindAllStringSubmatch(sourceOf(t, ".."), -1) {
		if i := slices.Index(read, m[1]); i >= 0 {
			read = slices.Delete(read, i, i+1)
			continue
		}
		if rules++; !strings.Contains(suite, "store."+m[1]+"(") {
			t.Errorf("nothing runs store.%s: give Rules a row for it", m[1])
		}
	}
	if rules < 40 || len(read) > 0 {
		t.Errorf("%d rules are found, and not %v", rules, read)
	}
}

// sourceOf is the code of a package, without its tests.
func sourceOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	var code strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, errRead := os.ReadFile(name)
		if err = errRead; err != nil {
			break
		}
		code.Write(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return code.String()
}

// TestWideRules: each of them is a rule.
func TestWideRules(t *testing.T) {
	for _, name := range wide {
		if !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Name == name }) {
			t.Errorf("there is no rule %q", name)
		}
	}
}
