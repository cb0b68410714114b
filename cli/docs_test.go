package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"teamdata/internal/testkit"
)

// The README's install, exactly as one would paste it, and then, in the folder that
// it leaves, the rehearsal of a restore from docs/operations.md.
func TestReadmeInstall(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	out := runScript(t, script(t, "README.md", "## First event in five minutes"), ".", temp)
	for _, want := range []string{"verified", "member.added", "usr_bob", `"data":[{"id":"mem_`} {
		if !strings.Contains(out, want) {
			t.Errorf("the install printed no %q:\n%s", want, out)
		}
	}
	folder := regexp.MustCompile(`are in (\S+)`).FindStringSubmatch(out)
	if folder == nil {
		t.Fatalf("the install did not say where its files are:\n%s", out)
	}

	out = runScript(t, script(t, "docs/operations.md", "### Rehearse a restore"), folder[1], temp)
	for _, want := range []string{"usr_bob", `"action":"member.added"`, "the same answers"} {
		if !strings.Contains(out, want) {
			t.Errorf("the restore printed no %q:\n%s", want, out)
		}
	}
}

// script is the first block of shell below a heading of a page.
func script(t *testing.T, page, heading string) string {
	t.Helper()
	_, section, found := strings.Cut(testkit.ReadText(t, page), "\n"+heading+"\n")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)
	if !found || block == nil {
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
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "TMPDIR="+temp)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

var (
	codeInDocs    = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]+`")
	commandInDocs = regexp.MustCompile("(?m)(?:^|[`( ])(?:teamdata|go run \\.) ([a-z][^`|;&#)\n]*)")
)

// Every command line in the docs names a command that there is, and flags of it.
func TestCommandsInDocs(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root, checked := command("v1.2.3"), 0
	root.InitDefaultCompletionCmd()
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		for _, code := range codeInDocs.FindAllString(testkit.ReadText(t, page), -1) {
			for _, line := range commandInDocs.FindAllStringSubmatch(strings.ReplaceAll(code, "\\\n", ""), -1) {
				checkLine(t, root, page, strings.Fields(strings.TrimPrefix(line[1], "teamdata ")))
				checked++
			}
		}
	}
	if checked < 60 { // so the patterns still find them
		t.Errorf("only %d command lines were found", checked)
	}
}

func checkLine(t *testing.T, root *cobra.Command, page string, args []string) {
	t.Helper()
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		t.Errorf("%s names teamdata %s, and there is no such command", page, strings.Join(args, " "))
		return
	}
	cmd.InitDefaultHelpFlag()
	for _, arg := range rest {
		name, isFlag := strings.CutPrefix(arg, "--")
		if isFlag && cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
			t.Errorf("%s gives %s the flag --%s, which it does not have", page, cmd.CommandPath(), name)
		}
	}
}
