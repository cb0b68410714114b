package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/internal/hint"
	"teamdata/internal/strictjson"
	"teamdata/internal/terminal"
)

func configCheckCommand(c *configuration) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check for settings that serve would refuse or ignore",
		Long: `Check looks for faults in the settings of serve: TEAMDATA_ names in the
environment that no command knows, values that are malformed, and flags that
don't go together. It opens no file and makes no connection. Its exit status is 1
if it finds a fault.`,
		Example: "  teamdata config check\n  teamdata config check --domain data.example.com --acme-accept-terms",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.check(cmd.OutOrStdout()) },
	}
	bindSettings(cmd.Flags(), &c.settings)
	return cmd
}

func (c *configuration) check(out io.Writer) error {
	faults := append(unknownNames(), slices.Concat(c.faults, c.settings.Faults())...)
	for _, fault := range faults {
		fmt.Fprintln(out, fault)
	}
	if n := len(faults); n > 0 {
		return hint.New(terminal.Count(n, "fault")+" in the settings, as listed", "correct the settings before teamdata serve")
	}
	_, err := fmt.Fprintln(out, "the settings are in order")
	return err
}

// unknownNames are the TEAMDATA_ names in the environment that no command knows,
// each with the nearest that one does.
func unknownNames() (faults []error) {
	known := knownNames(command(""))
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		setting, ours := strings.CutPrefix(name, environmentName(""))
		if !ours || slices.Contains(known, setting) {
			continue
		}
		fix := "unset it: the names are those of the flags in teamdata serve --help"
		if nearest, near := strictjson.Nearest(setting, known); near {
			fix = "did you mean " + environmentName(nearest) + "?"
		}
		faults = append(faults, hint.New(name+": no such setting", fix))
	}
	slices.SortFunc(faults, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return faults
}

// knownNames are what may follow TEAMDATA_ : the flags of all commands, and the
// secrets that have no flag, for others could see it. Those of serve come first: of
// two that are as near they are meant.
func knownNames(root *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		name := strings.TrimPrefix(environmentName(f.Name), environmentName(""))
		names = append(names, name)
		if _, isSecret := f.Annotations[secretFlag]; isSecret {
			names = append(names, name+"_FILE")
		}
	}
	serveCommand().Flags().VisitAll(add)
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(add)
		cmd.PersistentFlags().VisitAll(add)
	})
	return append(names, "OPERATOR_TOKEN", "SECRET")
}

// warnOfUnknownNames tells the log of settings that would be overlooked.
func warnOfUnknownNames(log zerolog.Logger) {
	for _, fault := range unknownNames() {
		log.Warn().Fields(hint.Fields(fault)).Msg("a setting is ignored")
	}
}
