package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/terminal"
	"teamdata/store/fixture"
)

func importCommand() *cobra.Command {
	var data, keyFile string
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Add the records of a fixture to a data file",
		Long: `Import adds the orgs of a fixture, the JSON that export writes, to a data file
that no server has open; it creates the file if it is not there. Either all of
the fixture is imported or nothing: import writes to a copy of the data file,
which replaces the file once it is on the disk and sound. The disk needs room for
both. A fixture may be far larger than the memory.

With - the fixture is read from stdin, into a temporary file beside the data file.
An import makes no audit entries, and no events for webhooks.`,
		Example: `  teamdata import org.json --data /var/lib/teamdata/teamdata.db
  gunzip < export.json.gz | teamdata import -`,
		Args: exactly("the fixture, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := terminal.StartProgress(cmd, "importing "+args[0])
			sum, sealed, err := app.Import(cmd.Context(), data, keyFile, args[0], func(s fixture.Summary) { p.Describe(app.Counted(s)) })
			p.Stop()
			if err != nil {
				return err
			}
			if sealed {
				fmt.Fprintln(cmd.ErrOrStderr(), app.Sealed)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "imported into data file %s: %s\n", data, app.Counted(sum))
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", app.DefaultData, "the data `file`; it is made if it is not there")
	cmd.Flags().StringVar(&keyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with, or is to be")
	return cmd
}
