package cli

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/internal/terminal"
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
		Long: `Config prints the value of each flag of serve, and where the value comes from:
the command line, the environment, a file that the environment names, or the
default. It takes the flags of serve. Secrets are not shown.`,
		Example: "  teamdata config\n  teamdata config --listen 0.0.0.0:8443 --json",
		Args:    cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c.read(cmd.Flags())
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(c.faults) > 0 {
				return c.faults[0]
			}
			return c.print(cmd.OutOrStdout(), asJSON)
		},
	}
	bindSettings(cmd.Flags(), &c.settings)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(configCheckCommand(&c))
	return cmd
}

// read reads the environment as every command does, and goes on after a fault.
func (c *configuration) read(flags *pflag.FlagSet) {
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
}

func settingOf(f *pflag.Flag, given bool) setting {
	s := setting{Flag: "--" + f.Name, Value: shownValue(f), From: "default"}
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

// shownValue is a flag's value without what is secret in it.
func shownValue(f *pflag.Flag) string {
	value := f.Value.String()
	if _, isSecret := f.Annotations[secretFlag]; isSecret && value != "" {
		return "(secret)"
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	return value
}

func (c *configuration) print(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string][]setting{"settings": c.list})
	}
	var rows [][]string
	for _, s := range c.list {
		rows = append(rows, []string{s.Flag, s.Value, strings.TrimSpace(s.From + " " + s.Variable)})
	}
	return (&terminal.Table{To: out}).Print(rows...)
}
