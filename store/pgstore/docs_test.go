package pgstore

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// docs are the blocks below a heading of docs/postgresql.md.
func docs(t *testing.T, heading string) (blocks []string) {
	t.Helper()
	_, section, _ := strings.Cut(kit.ReadText(t, "../../docs/postgresql.md"), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```\\w*\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("the page has nothing to paste below %q", heading)
	}
	return blocks
}

// What docs/postgresql.md says of roles, rights and dumps works as it is pasted.
func TestDocs(t *testing.T) {
	server := postgres.Start(t)
	server.Exec(t, "DROP ROLE teamdata")
	server.Shell(t, docs(t, "Role and database")[0], secret+"\n"+secret+"\n")
	remote := strings.Replace(server.TCP("teamdata"), postgres.Password, secret, 1)
	kit.Must(t, pooled(t, remote).prepare(t.Context(), steps(t, 2, 1, 1), writing))

	server.Exec(t, "CREATE DATABASE shared")
	rights := docs(t, "Rights")
	postgres.Exec(t, server.URL("postgres", "shared"), rights[0])
	if err := pooled(t, server.URL("teamdata", "shared")).prepare(t.Context(), steps(t, 2, 1, 1), writing); err != nil {
		t.Error(err)
	}
	postgres.Exec(t, server.URL("postgres", "teamdata"), rights[1])
	reports := pooled(t, server.URL("reports", "teamdata"))
	if err := reports.prepare(t.Context(), steps(t, 2, 1, 1), reading); err != nil {
		t.Error(err)
	}
	checkRefusal(t, reports.prepare(t.Context(), steps(t, 2, 1, 1), writing), "create tables")

	for _, script := range docs(t, "Backup") {
		server.Shell(t, script, "", fmt.Sprintf("DATABASE=%s", server.URL("teamdata", "teamdata")))
	}
	restored := server.URL("teamdata", "restored")
	if err := pooled(t, restored).prepare(t.Context(), steps(t, 2, 1, 1), writing); err != nil {
		t.Error(err)
	}
	if got, want := contents(t, restored), contents(t, server.URL("teamdata", "teamdata")); got != want {
		t.Errorf("restored is %s, not %s", got, want)
	}
}
