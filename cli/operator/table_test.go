package operator

import (
	"regexp"
	"strings"
	"testing"
)

// On a terminal of 80 columns each list shows the state of its rows, whatever long texts
// people gave them, and times to the minute. Scripts get both as the API has them.
func TestListsOnATerminal(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("long ", 20)
	w.must("org", "update", "org_acme", "--name", long)
	w.must("subscription", "update", "--plan", "business", "--status", "pastDue")
	w.must("member", "add", "usr_ada", "--role", "owner", "--name", long)
	w.must("key", "create", "--scopes", "read", "--created-by", "usr_ada", "--name", long)
	w.must("operator-token", "create", "--name", long, "--expires-at", "2030-01-02")
	endpoint := strings.TrimSpace(w.must("endpoint", "create", "--url", "https://example.com/"+strings.Repeat("hook/", 20), "--events", "*", "--quiet"))
	w.must("endpoint", "disable", endpoint)
	w.must("instructions", "update", long)
	delivery := strings.TrimSpace(w.must("delivery", "list", "--quiet"))

	w.columns = 80
	minute := regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d\b`)
	for _, test := range []struct{ resource, titles, row string }{
		{"org", `^ORG +STATUS +PLAN +NAME`, `^org_acme +pastDue +business +long`},
		{"key", `^KEY +STATE +SCOPES`, `^key_\w+ +active +read +long`},
		{"operator-token", `^TOKEN +EXPIRES \(UTC\) +NAME`, `^opr_\w+ +2030-01-02 00:00 +long`},
		{"endpoint", `^ENDPOINT +KIND +DISABLED \(UTC\) +LAST PULLED \(UTC\) +URL`, `^whe_\w+ +push +20\d\d-\d\d-\d\d \d\d:\d\d +- +http`},
		{"delivery", `^DELIVERY +STATE +EVENT`, `^whd_\w+ +held +assistant.instructionsChanged`},
		{"audit", `^ENTRY +WHEN \(UTC\) +ACTION`, `^aud_\w+ +20\d\d-\d\d-\d\d \d\d:\d\d +org\.created`},
		{"member", `^USER +ROLE +NAME`, `^usr_ada +owner +long`},
	} {
		lines := strings.Split(w.must(test.resource, "list"), "\n")
		if !regexp.MustCompile(test.titles).MatchString(lines[0]) || !regexp.MustCompile(test.row).MatchString(lines[1]) {
			t.Errorf("%s list printed\n%s", test.resource, strings.Join(lines, "\n"))
		}
	}
	if shown := w.must("delivery", "show", delivery); !regexp.MustCompile(`createdAt: +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\n`).MatchString(shown) {
		t.Errorf("it shows\n%s", shown)
	}
	if text := w.must("audit", "list", "--json"); minute.MatchString(text) {
		t.Errorf("as JSON it printed %s", text)
	}
	w.columns = 0
	if text := w.must("audit", "list"); minute.MatchString(text) || strings.Contains(text, "UTC") || !regexp.MustCompile(` 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z `).MatchString(text) {
		t.Errorf("to a pipe it printed\n%s", text)
	}
}
