package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
	"teamdata/wire/strictjson"
)

// setting is a flag of serve, and its value.
type setting struct {
	Flag     string `json:"flag"`
	Value    string `json:"value"` // of a secret only that there is one
	From     string `json:"from"`  // flag, environment, file or default
	Variable string `json:"variable,omitempty"`
}

// configuration is what serve would be run with, and what is wrong with it so
// far.
type configuration struct {
	settings app.Settings
	list     []setting
	faults   []error
}

func configCommand() *cobra.Command {
	var c configuration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings that serve would run with",
		Long: `Prints the value of each flag of serve, and where it comes from: the command
line, the environment, a file that the environment names, or the default. It
takes the flags of serve. Secrets are not shown.`,
		Example:           "  teamdata config\n  teamdata config --listen 0.0.0.0:8443 --json",
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.read(cmd.Flags()) },
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if len(c.faults) > 0 {
				return c.faults[0]
			}
			return checkValues(cmd, nil)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return c.print(cmd.OutOrStdout(), asJSON) },
	}
	bindSettings(cmd.Flags(), &c.settings)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(configCheckCommand(&c))
	return cmd
}

// read reads the environment as every command does, but continues after a fault. A
// password among the arguments is an error at once.
func (c *configuration) read(flags *pflag.FlagSet) error {
	if err := checkArguments(flags); err != nil {
		return err
	}
	own := serveCommand().Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		given, one := f.Changed, pflag.NewFlagSet("", pflag.ContinueOnError)
		one.AddFlag(f)
		if err := fromEnvironment(one); err != nil {
			c.faults = append(c.faults, err)
		}
		if own.Lookup(f.Name) != nil {
			c.list = append(c.list, settingOf(f, given))
		}
	})
	return nil
}

func settingOf(f *pflag.Flag, given bool) setting {
	s := setting{Flag: "--" + f.Name, Value: formatValue(f), From: "default"}
	switch {
	case given:
		s.From = "flag"
	case f.Changed:
		s.From = "environment"
		if _, s.Variable, _, _ = environmentValue(f); s.Variable != environmentName(f.Name) {
			s.From = "file"
		}
	}
	return s
}

// formatValue is a flag's value without what is secret in it.
func formatValue(f *pflag.Flag) string {
	value := f.Value.String()
	if slices.Contains(secretFlags, f.Name) && value != "" {
		return "(secret)"
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		value = strings.Join(list.GetSlice(), ",")
	}
	if app.IsDatabase(value) {
		return app.Place(value)
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	return value
}

func (c *configuration) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return terminal.JSON(out, map[string][]setting{"settings": c.list})
	}
	var rows [][]string
	for _, s := range c.list {
		rows = append(rows, []string{s.Flag, s.Value, strings.TrimSpace(s.From + " " + s.Variable)})
	}
	return (&terminal.Table{To: out}).Print(rows...)
}

func configCheckCommand(c *configuration) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the settings, as a service unit does before a start",
		Long: `Checks the settings of serve for TEAMDATA_ names in the environment that no
command knows, malformed values, and flags that don't go together. It opens no
file and makes no connection, so a service unit can run it before each start.
It exits with 2 if there is a fault, as serve would. To check much more, run:
teamdata doctor`,
		Example: "  teamdata config check\n  teamdata config check --domain data.example.com --acme-accept-terms",
		PreRunE: func(cmd *cobra.Command, _ []string) error { return c.check(cmd.OutOrStdout()) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.settings.EgressResolves {
				fmt.Fprintln(cmd.OutOrStdout(), "warning:", app.ResolvesWarning)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "the settings are in order")
			return err
		},
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
	return nil
}

// unknownNames returns the TEAMDATA_ names in the environment that no command
// knows, each with the closest known one.
func unknownNames() (faults []error) {
	known := knownNames(command(""))
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		setting, ours := strings.CutPrefix(name, environmentName(""))
		if !ours || slices.Contains(known, setting) {
			continue
		}
		fix := "unset it: the names are those of the flags in teamdata serve --help --all"
		if nearest, near := strictjson.Nearest(setting, known); near {
			fix = "did you mean " + environmentName(nearest) + "?"
		}
		faults = append(faults, hint.New(name+": no such setting", fix))
	}
	slices.SortFunc(faults, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return faults
}

// knownNames returns what may follow TEAMDATA_ : the flags of all commands, and
// the secrets that have no flag, since others could see it. Those of serve come
// first, to win between two equally close ones.
func knownNames(root *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		name := strings.TrimPrefix(environmentName(f.Name), environmentName(""))
		names = append(names, name)
		if fromFile(f) {
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
