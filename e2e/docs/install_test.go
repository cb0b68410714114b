package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The first event of docs/start.md, exactly as one would paste it, and then, in the folder that
// it leaves, the rehearsal of a restore from docs/backup.md.
func TestFirstEvent(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	out := runScript(t, script(t, "docs/start.md", "## First event in five minutes"), ".", temp)
	for _, want := range []string{"verified", "member.added", "usr_bob", `"data":[{"id":"mem_`} {
		if !strings.Contains(out, want) {
			t.Errorf("the install printed no %q:\n%s", want, out)
		}
	}
	folder := regexp.MustCompile(`are in (\S+)`).FindStringSubmatch(out)
	if folder == nil {
		t.Fatalf("the install did not say where its files are:\n%s", out)
	}

	out = runScript(t, script(t, "docs/backup.md", "## Rehearse a restore"), folder[1], temp)
	for _, want := range []string{"usr_bob", `"action":"member.added"`, "the same answers"} {
		if !strings.Contains(out, want) {
			t.Errorf("the restore printed no %q:\n%s", want, out)
		}
	}
}

// section is what is below a heading of a page.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(kit.ReadText(t, page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", page, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// script is the first block of shell below a heading of a page.
func script(t *testing.T, page, heading string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section(t, page, heading))
	if block == nil {
		t.Fatalf("%s has no script below %q", page, heading)
	}
	return block[1]
}

// runScript runs a script in a folder, with another for its temporary files, and
// returns what it printed.
func runScript(t *testing.T, script, folder, temp string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "PATH="+filepath.Dir(program.Binary(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
