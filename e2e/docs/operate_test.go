package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// serveUntilReady has `teamdata serve` end as soon as it is ready, and print its URL.
const serveUntilReady = `
teamdata() {
	if [ "$1" != serve ]; then command teamdata "$@"; return; fi
	mkfifo ready
	command teamdata "$@" --ready-file - > ready & served=$!
	head -n 1 ready
	kill $served; wait $served; rm ready
}
`

// block is the numbered block of plain commands below a heading of a page.
func block(t *testing.T, page, heading string, n int) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```\n(.*?)^```$").FindAllStringSubmatch(section(t, page, heading), -1)
	if len(found) <= n {
		t.Fatalf("%s has %d blocks below %q", page, len(found), heading)
	}
	return found[n][1]
}

// The servers behind a proxy start as one would paste them, on other ports.
func TestPastedServers(t *testing.T) {
	t.Parallel()
	for i, server := range []struct{ heading, url string }{
		{"## HTTP behind a proxy", `"http://127.0.0.1:`},
		{"## HTTP behind a proxy", `/http.sock"`},
		{"## PROXY protocol", `"https://127.0.0.1:`},
	} {
		folder := t.TempDir()
		pasted := block(t, "docs/proxies.md", server.heading, i%2)
		pasted = strings.NewReplacer("127.0.0.1:8080", "127.0.0.1:0", "0.0.0.0:8443", "127.0.0.1:0", "/run/teamdata", folder).Replace(pasted)
		if out := runScript(t, "set -eu\n"+serveUntilReady+pasted, folder, folder); !strings.Contains(out, server.url) {
			t.Errorf("%sit serves at\n%s", pasted, out)
		}
	}
}

// A server on a database, a file that is carried there, and a node start as one would paste
// them, with the database of the test in place of db.example.com.
func TestPastedDatabase(t *testing.T) {
	t.Parallel()
	server, ca := postgres.StartTLS(t, "127.0.0.1")
	folder := t.TempDir()
	kit.WriteFile(t, filepath.Join(folder, "db-ca.pem"), kit.ReadText(t, ca))
	program.Serve(t, filepath.Join(folder, "teamdata.db"), "--seed", program.Example).StopWell()
	address := fmt.Sprintf("127.0.0.1:%d", server.Port)
	for _, name := range []string{"teamdata", "moved"} {
		server.Exec(t, fmt.Sprintf("CREATE DATABASE %s OWNER %s TEMPLATE template0 ENCODING 'UTF8'", name, postgres.Owner))
	}
	here := []string{"db.example.com:5432", address, "db.example.com", address, "PASSWORD", postgres.Password, "/etc/teamdata", folder,
		"/var/lib/teamdata", folder, "0.0.0.0:8443", "127.0.0.1:0", "systemctl stop teamdata\n", "", ":teamdata:teamdata:", ":*:teamdata:"}
	moved := append([]string{"db.example.com/teamdata", address + "/moved"}, here...)
	for _, paste := range []struct {
		page, heading string
		n             int
		here          []string
		want          string
	}{
		{"docs/postgresql.md", "## Role and database", 1, here, `"https://127.0.0.1:`},
		{"docs/postgresql.md", "## Move there and back", 0, moved, "is sound"},
		{"docs/postgresql-nodes.md", "## Start the nodes", 0, moved, `"https://127.0.0.1:`},
	} {
		pasted := strings.NewReplacer(paste.here...).Replace(block(t, paste.page, paste.heading, paste.n))
		prelude := fmt.Sprintf("set -eu\nexport TEAMDATA_LISTEN=127.0.0.1:0 PGPASSFILE=%[1]s/pgpass PGSSLROOTCERT=%[1]s/db-ca.pem\n", folder) + serveUntilReady
		if out := runScript(t, prelude+pasted, folder, folder); !strings.Contains(out, paste.want) {
			t.Errorf("%sprinted\n%s", pasted, out)
		}
	}
}

// What a page shows below a command is what that prints, with other sizes and times.
func TestShownOutput(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program.MustRun(t, "org", "create", "--name", "Acme", "--data", filepath.Join(folder, "teamdata.db"))
	varies := regexp.MustCompile(`[0-9.]+(?:µs|ms| bytes)`)
	for _, shown := range []struct{ page, heading string }{
		{"docs/doctor.md", "## Run it"},
		{"docs/settings.md", "## Check your settings"},
	} {
		command, output, _ := strings.Cut(strings.TrimPrefix(block(t, shown.page, shown.heading, 0), "$ "), "\n")
		here := func(text string) string { return strings.ReplaceAll(text, "/var/lib/teamdata", folder) }
		got := varies.ReplaceAllString(runScript(t, here(command)+" || true", folder, folder), "…")
		for line := range strings.Lines(varies.ReplaceAllString(here(output), "…")) {
			if !strings.Contains(got, line) {
				t.Errorf("%s: %s prints no\n%sbut\n%s", shown.page, command, line, got)
			}
		}
	}
}
