package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

func manCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "man --dir DIR",
		Short: "Write the manual pages",
		Long: `Writes a manual page for each command into a folder, which is created if it
doesn't exist.`,
		Example: "  teamdata man --dir man && man -l man/teamdata-serve.1\n  teamdata man --dir /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := writeManual(cmd.Root(), folder); err != nil {
				return hint.With(fmt.Errorf("--dir: %w", err), "name a folder that you may write to")
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "the manual pages are in %s\n", folder)
			return err
		},
	}
	cmd.Flags().StringVar(&folder, "dir", "", "the `folder` for the pages")
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic(err) // there is no such flag
	}
	return cmd
}

// writeManual writes a page for each command that the help shows.
func writeManual(root *cobra.Command, folder string) (err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() || cmd == root {
			err = errors.Join(err, os.WriteFile(filepath.Join(folder, pageName(cmd)+".1"), []byte(manualPage(cmd)), 0o644))
		}
	})
	return err
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage is a command's page in roff, with the macros of man(7).
func manualPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"teamdata %s\" teamdata\n", strings.ToUpper(roff(pageName(cmd))), roff(cmd.Root().Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	verbatim(&b, "SYNOPSIS", cmd.UseLine())
	verbatim(&b, "DESCRIPTION", cmd.Long)
	if cmd.HasParent() { // overview has them
		verbatim(&b, "COMMANDS", below(cmd, ""))
	}
	cmd.InheritedFlags() // which adds those of the commands above it to Flags
	verbatim(&b, "FLAGS", flagUsages(cmd.Flags(), manWidth))
	verbatim(&b, "EXAMPLES", cmd.Example)
	verbatim(&b, "NOTES", cmd.Annotations[notes])
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(pageName(cmd.Parent())))
	}
	return b.String()
}

// manWidth is what a terminal of 80 columns has room for beside a page's margin.
const manWidth = 72

// verbatim adds a section whose lines stay as they are.
func verbatim(b *strings.Builder, title, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		fmt.Fprintf(b, ".SH \"%s\"\n.nf\n%s\n.fi\n", title, roff(text))
	}
}

// below lists the commands of a command, each with what is before its name.
func below(cmd *cobra.Command, before string) string {
	var b strings.Builder
	var rows [][]string
	for _, one := range cmd.Commands() {
		if one.IsAvailableCommand() {
			rows = append(rows, []string{before + one.Name(), one.Short})
		}
	}
	(&terminal.Table{To: &b}).Print(rows...) // a builder takes all
	return b.String()
}

// roff escapes what roff would take for its own: backslashes, minus signs, and a
// period or an apostrophe at the start of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
