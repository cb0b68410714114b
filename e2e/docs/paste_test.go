package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// What else the pages tell to paste, on a server with the example org in the folder: each
// block below a heading, in its order.
func TestPastedCommands(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program.Serve(t, filepath.Join(folder, "teamdata.db"), "--seed", program.Example)
	for _, paste := range []struct {
		page, heading string
		wants         []string // what each block prints
		change        *strings.Replacer
	}{
		{"docs/admin-api.md", "## Where it is", []string{`"schema":1`}, strings.NewReplacer()},
		{"docs/audit-log.md", "## Search", []string{"no such audit entries"}, strings.NewReplacer()},
		{"docs/audit-log.md", "## Carry it to another store", []string{`{"orgId":"org_acme"`}, strings.NewReplacer(" --output audit.jsonl", "")},
		{"docs/webhooks.md", "## When it fails", []string{"whe_hook", "rpl_"}, strings.NewReplacer("replay create", "replay create --yes")}, // nobody is there to ask
		{"docs/webhooks.md", "## Try it", []string{"", "webhook.test"}, strings.NewReplacer("teamdata listen", ": ")},                       // it has stories of its own, and does not end
		{"docs/backup.md", "## Back up", []string{""}, strings.NewReplacer("/var/backups/", "backup-of-", "/var/lib/teamdata/", "")},
		{"docs/backup.md", "## Restore", []string{"", "is sound"}, strings.NewReplacer("/var/backups/", "backup-of-", "/var/lib/teamdata/", "restored-")},
		{"docs/upgrade.md", "## Downgrade", []string{""}, strings.NewReplacer("teamdata.db.schema-1-20261121T120000Z", "backup-of-teamdata.db", "--data ", "--data older-")},
		{"docs/hardening.md", "## Sealed secrets", []string{""}, strings.NewReplacer()},
	} {
		blocks := regexp.MustCompile("(?ms)^ *```\n(.*?)^ *```$").FindAllStringSubmatch(section(t, paste.page, paste.heading), -1)
		if len(blocks) != len(paste.wants) {
			t.Fatalf("%s has %d blocks below %q", paste.page, len(blocks), paste.heading)
		}
		for i, block := range blocks {
			if out := runScript(t, "set -eu; export TEAMDATA_ORG=org_acme\n"+paste.change.Replace(block[1]), folder, folder); !strings.Contains(out, paste.wants[i]) {
				t.Errorf("%s\nprinted no %q:\n%s", block[1], paste.wants[i], out)
			}
		}
	}
}
