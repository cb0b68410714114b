package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each command says what it does, and its examples are command lines that it
// takes.
func TestExamplesOfCommands(t *testing.T) {
	eachCommand(command(""), func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "version" {
			return
		}
		if cmd.Short == "" {
			t.Errorf("%s has no short text", cmd.CommandPath())
		}
		if !cmd.HasSubCommands() && cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			for _, words := range commandLines(line) {
				if err := parse(words); err != nil {
					t.Errorf("%s: the example %q: %v", cmd.CommandPath(), strings.TrimSpace(line), err)
				}
			}
		}
	})
}

// parse takes a command line apart, as running it would.
func parse(words []string) error {
	cmd, rest, err := command("").Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err
	}
	return cmd.ValidateFlagGroups()
}

var (
	shell = regexp.MustCompile(` +#.*| [<>|&].*|[()]`) // what belongs to the shell
	word  = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
)

// commandLines are the arguments of each teamdata in a line of a shell.
func commandLines(line string) (lines [][]string) {
	for _, text := range strings.Split(" "+strings.ReplaceAll(line, "(", " "), " teamdata ")[1:] {
		var words []string
		for _, w := range word.FindAllString(shell.ReplaceAllString(text, ""), -1) {
			words = append(words, strings.NewReplacer(`'`, "", `"`, "", "$", "x").Replace(w))
		}
		lines = append(lines, words)
	}
	return lines
}

// The help of a flag calls its value by a name, and not by the type that it has in Go.
func TestFlagsNameTheirValues(t *testing.T) {
	types := []string{"string", "strings", "stringSlice", "int", "int64", "uint", "float", "durationSlice", "value"}
	eachCommand(command(""), func(cmd *cobra.Command) {
		cmd.InheritedFlags() // which adds them to Flags
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if value, _ := pflag.UnquoteUsage(f); slices.Contains(types, value) {
				t.Errorf("%s --%s: the help calls its value %s", cmd.CommandPath(), f.Name, value)
			}
		})
	})
}

// No flag takes a secret itself: others could see it.
func TestNoSecretInArguments(t *testing.T) {
	eachCommand(command(""), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := f.Name
			if slices.Contains(secretFlags, name) || strings.HasSuffix(name, "-file") || f.Value.Type() == "bool" {
				return
			}
			if strings.Contains(name, "secret") || strings.Contains(name, "token") || strings.Contains(name, "password") {
				t.Errorf("%s has the flag --%s", cmd.CommandPath(), name)
			}
		})
	})
}
