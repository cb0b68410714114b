package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The README's first event, exactly as one would paste it, and then, in the folder that
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
	_, section, found := strings.Cut(kit.ReadText(t, page), "\n"+heading+"\n")
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
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "PATH="+filepath.Dir(program.Binary(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
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

// Every command line in the docs names a command that there is, and flags of it. A flag
// or a variable that stands alone is one of any command.
func TestCommandsInDocs(t *testing.T) {
	root, checked := command("v1.2.3"), 0
	root.InitDefaultCompletionCmd()
	flags, variables := map[string]bool{"help": true, "version": true}, knownNames(root)
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	})
	for _, page := range kit.Pages(t) {
		text := kit.ReadText(t, page)
		for _, code := range codeInDocs.FindAllString(text, -1) {
			for _, line := range commandInDocs.FindAllStringSubmatch(strings.ReplaceAll(code, "\\\n", ""), -1) {
				checkLine(t, root, page, strings.Fields(strings.TrimPrefix(line[1], "teamdata ")))
				checked++
			}
		}
		for _, flag := range flagInDocs.FindAllStringSubmatch(text, -1) {
			if !flags[flag[1]] && !slices.Contains(flagsOfOthers, flag[1]) {
				t.Errorf("%s names the flag --%s, which no command has", page, flag[1])
			}
		}
		for _, variable := range variableInDocs.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(variables, variable[1]) && !slices.Contains(variablesOfSamples, variable[1]) {
				t.Errorf("%s names TEAMDATA_%s, which is no setting", page, variable[1])
			}
		}
	}
	if checked < 60 { // so the patterns still find them
		t.Errorf("only %d command lines were found", checked)
	}
}

var (
	flagInDocs     = regexp.MustCompile("`--([a-z][a-z0-9-]*)")
	variableInDocs = regexp.MustCompile(`\bTEAMDATA_([A-Z0-9_]*[A-Z0-9])\b`)

	// Any flag, Docker's, any variable, those of the programs that the docs show, and one
	// that is misspelled.
	flagsOfOthers      = []string{"a-b", "build-arg", "restart"}
	variablesOfSamples = []string{"A_B", "A_B_FILE", "AUTHORIZATION", "CA", "KEY", "URL", "LISTN"}
)

// The table of commands in docs/operations.md has all that the help shows, with what is
// below each.
func TestCommandsAreDocumented(t *testing.T) {
	_, section, _ := strings.Cut(kit.ReadText(t, "docs/operations.md"), "\n## Commands\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\| ").FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(row[1], "`, `") {
			got = append(got, strings.Trim(name, "`"))
		}
	}
	root := command("v1.2.3")
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		name, below := cmd.Name(), []string(nil)
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				below = append(below, sub.Name())
			}
		}
		if len(below) > 0 && name != "completion" {
			name += " " + strings.Join(below, ", ")
		}
		want = append(want, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the table has\n%q\nand not\n%q", got, want)
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
