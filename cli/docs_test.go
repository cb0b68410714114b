package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/e2e/kit"
)

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

	// Any flag, Docker's and sha256sum's, any variable, those of the programs that the docs show, and one
	// that is misspelled.
	flagsOfOthers      = []string{"a-b", "build-arg", "ignore-missing", "restart"}
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
