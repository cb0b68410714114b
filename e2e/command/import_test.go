package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

func TestImportFromAPipe(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "a.db")
	for _, test := range []struct{ stdin, want string }{
		{"not JSON", "-: line 1, column 1: invalid character 'o' in literal null (expecting 'u'); nothing was imported"},
		{kit.ReadText(t, program.Example), "imported into data file " + data + ": 2 orgs"},
		{kit.ReadText(t, program.Example), `-: orgs[0].id: an org "org_acme" exists already; nothing was imported`},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, program.Binary(t), "import", "-", "--data", data)
		cmd.Stdin = strings.NewReader(test.stdin) // a pipe, in the child
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), test.want) {
			t.Errorf("of %.20q it said: %s", test.stdin, out)
		}
	}
	holdsOnly(t, folder, "a.db")
}

// Killed at random moments of an import, the data file is what it was, or has
// all of the fixture.
func TestImportKilledAtRandom(t *testing.T) {
	t.Parallel()
	const entries = 10_000
	random := kit.Random(t)
	folder, more := t.TempDir(), filepath.Join(t.TempDir(), "more.json")
	data := filepath.Join(folder, "a.db")
	kit.WriteFile(t, more, manyEntries(entries))
	program.MustRun(t, "import", program.Example, "--data", data)
	before := kit.ReadText(t, data)

	start := time.Now()
	program.MustRun(t, "import", more, "--data", data)
	whole := time.Since(start)
	finished := 0
	for range 10 {
		kit.WriteFile(t, data, before)
		cmd := exec.Command(program.Binary(t), "import", more, "--data", data)
		kit.Must(t, cmd.Start())
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { cmd.Process.Kill() })
		cmd.Wait()
		kill.Stop()
		if kit.ReadText(t, data) == before {
			continue
		}
		finished++
		told := program.MustRun(t, "export", filepath.Join(folder, "b.json"), "--data", data, "--force")
		if !strings.Contains(told, fmt.Sprintf("3 orgs, 6 members, %d audit entries", 12+entries)) {
			t.Errorf("a half of it is there: %s", told)
		}
	}
	t.Logf("%d of 10 imports had put their file in its place", finished)
	kit.WriteFile(t, data, before)
	program.MustRun(t, "import", more, "--data", data) // which clears what the killed ones left
	program.MustRun(t, "check", "--data", data)
	os.Remove(filepath.Join(folder, "b.json"))
	holdsOnly(t, folder, "a.db")
}

// manyEntries is a fixture with an org of that many audit entries.
func manyEntries(n int) string {
	var text strings.Builder
	text.WriteString(`{"orgs": [{"auditLog": [` + "\n")
	for i := range n {
		fmt.Fprintf(&text, "{\"action\": \"a\", \"id\": \"aud_%d\"},\n", i)
	}
	return strings.TrimSuffix(text.String(), ",\n") + "\n" + `], "id": "org_many", "name": "Many"}]}`
}
