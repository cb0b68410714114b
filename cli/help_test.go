package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help of teamdata has each command once, with a word on when to use it, and begins
// with the purpose and the first steps.
func TestOverview(t *testing.T) {
	var got, want []string
	for _, row := range regexp.MustCompile(`(?m)^  ([a-z-]+(?:, [a-z-]+)*)  +\S`).FindAllStringSubmatch(overview, -1) {
		got = append(got, strings.Split(row[1], ", ")...)
	}
	_, also, _ := strings.Cut(overview, "\nAlso: ")
	also, _, _ = strings.Cut(also, ".")
	got = append(got, strings.Split(also, ", ")...)
	root := command("")
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		want = append(want, cmd.Name())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it has\n%q\nand not\n%q", got, want)
	}
	begins(t, overview, 40, "webhooks of your product's customers", "serve --demo", "  org ", "  member ", "  signin-link ", "  key ")
}

func TestHelpOfServe(t *testing.T) {
	serve := serveCommand()
	command("").AddCommand(serve)
	text := helpOf(serve, false)
	begins(t, text, 45, "serve --demo", "./teamdata.db", "this machine only", "serve --data ", "serve --listen :443 --domain ")
	if flags, signals := strings.Index(text, "\nFlags:"), strings.Index(text, "SIGTERM"); signals < flags {
		t.Error("--help speaks of signals before the flags")
	}
	all := helpOf(serve, true)
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !strings.Contains(all, " --"+f.Name+" ") {
			t.Errorf("--help --all doesn't show --%s", f.Name)
		}
	})
	for _, name := range mostNeeded {
		if !strings.Contains(text, "\n  --"+name+" ") {
			t.Errorf("--help doesn't show --%s", name)
		}
	}
}

// begins checks the length of a help text, and that its first ten lines have some texts.
func begins(t *testing.T, text string, lines int, with ...string) {
	t.Helper()
	if n := strings.Count(text, "\n"); n > lines {
		t.Errorf("it has %d lines, more than %d", n, lines)
	}
	first := strings.Join(strings.SplitN(text, "\n", 11)[:10], "\n")
	for _, part := range with {
		if !strings.Contains(first, part) {
			t.Errorf("the first ten lines have no %q:\n%s", part, first)
		}
	}
}

// The help of each command fits into the columns of a terminal, but for examples, which are
// to be pasted.
func TestHelpFits(t *testing.T) {
	eachCommand(command(""), func(cmd *cobra.Command) {
		for _, all := range []bool{false, true} {
			for line := range strings.Lines(helpOf(cmd, all)) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth && !strings.HasPrefix(line, "  teamdata ") {
					t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
				}
			}
		}
	})
}
