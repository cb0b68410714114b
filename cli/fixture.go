package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/terminal"
	"teamdata/wire/fixture"
)

func exportCommand() *cobra.Command {
	var x app.Export
	cmd := &cobra.Command{
		Use:   "export [FILE|-]",
		Short: "Write the records of a data file as JSON, even while it is served",
		Long: `Writes the orgs in a data file with their members, audit logs, instructions,
keys and endpoints, and the plans, event types and operator tokens. The output
is a fixture: JSON with one record on each line, which import reads. The same
records give the same bytes.

It reads a consistent copy of the data file, made beside it. While a server has
the file open, the server makes the copy and keeps serving. A database is read
as it is; changes made meanwhile may or may not be in the export.

It leaves out events, deliveries and their counts, mail, idempotency records,
certificates, the use of keys, and how people sign in; a backup has them. An
export contains the endpoints' secrets in plain text and the hashes of the
keys' secrets: protect it like a password file. The headers of endpoints and
their client certificates are left out, and counted, unless --secrets is given:
their values and keys belong to others.`,
		Example: `  teamdata export org.json --data /var/lib/teamdata/teamdata.db
  teamdata export | gzip > export.json.gz`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactly("one file to write, or - for stdout")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if x.To = "-"; len(args) > 0 {
				x.To = args[0]
			}
			p := terminal.StartProgress(cmd.ErrOrStderr(), "exporting "+app.Place(x.Data))
			sum, err := x.Run(cmd.Context(), cmd.OutOrStdout(), func(s fixture.Summary) { p.Describe(app.Counted(s)) })
			p.Stop()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "exported from %s: %s\n", app.Named(x.Data), app.Counted(sum))
			if sum.Withheld > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "left out: the headers and client certificates of %s\n  hint: with --secrets they are exported too\n", terminal.Count(sum.Withheld, "endpoint"))
			}
			if sum.Ahead.Records > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: import will refuse this export, for times ahead of the clock in %s, first %s\n"+
					"  hint: check the clock; if it is right, set these times back in the export\n", terminal.Count(sum.Ahead.Records, "record"), sum.Ahead.First)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&x.Data, "data", app.DefaultData, "the data `file`, or postgres://… for a PostgreSQL database")
	cmd.Flags().StringVar(&x.SealKeyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with")
	cmd.Flags().BoolVar(&x.Secrets, "secrets", false, "export the headers of endpoints and their client certificates too, with values and keys")
	cmd.Flags().BoolVar(&x.Force, "force", false, "overwrite an existing file")
	return cmd
}

func importCommand() *cobra.Command {
	var data, keyFile string
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Add the records of a fixture to a data file",
		Long: `Adds the orgs of a fixture, the JSON that export writes, to a data file that no
server has open; the file is created if it doesn't exist. Either the whole
fixture is imported or nothing: a copy of the data file is written, and
replaces the file once it is on disk and sound. The disk needs room for both. A
fixture may be far larger than the memory.

Records are written to a database directly, even while it is served. An invalid
fixture changes nothing there either, but an import that is stopped halfway
leaves what it has written so far.

With - the fixture is read from stdin, into a temporary file beside the data
file. An import makes no audit entries, and sends no webhooks.`,
		Example: `  teamdata import org.json --data /var/lib/teamdata/teamdata.db
  gunzip < export.json.gz | teamdata import -`,
		Args: exactly("the fixture, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := terminal.StartProgress(cmd.ErrOrStderr(), "importing "+args[0])
			sum, sealed, err := app.Import(cmd.Context(), data, keyFile, args[0], func(s fixture.Summary) { p.Describe(app.Counted(s)) })
			p.Stop()
			if err != nil {
				return err
			}
			if sealed {
				fmt.Fprintln(cmd.ErrOrStderr(), app.Sealed)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "imported into %s: %s\n", app.Named(data), app.Counted(sum))
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", app.DefaultData, "the data `file`, created if it doesn't exist; or postgres://… for a PostgreSQL database")
	cmd.Flags().StringVar(&keyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with, or is to be")
	return cmd
}
