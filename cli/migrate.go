package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/terminal"
	"teamdata/store"
)

func migrateCommand() *cobra.Command {
	var m app.Migration
	cmd := &cobra.Command{
		Use:   "migrate --from DATA --to DATA",
		Short: "Copy all data from a file to a PostgreSQL database, or back",
		Long: `Copies all data from a data file to a PostgreSQL database, or back: every
record, including waiting deliveries and certificates. Both are given as in
--data. No server may use the source, which is locked and keeps its data. The
target must be empty: no file, or a database without records. Afterwards no
server starts on a database whose data was carried elsewhere.

It reads back what it wrote, and compares one SHA-256 over all records on both
sides. Only if they agree does the data appear at the target, all at once. If
migrate is interrupted or killed, the target stays empty, and migrate can run
again.

Sealed data stays sealed, and needs its key: give it with --seal-key-file, and
keep serving with it.`,
		Example: `  teamdata migrate --from /var/lib/teamdata/teamdata.db --to postgres://teamdata@db.example.com/teamdata
  teamdata migrate --from postgres://teamdata@db.example.com/teamdata --to /var/lib/teamdata/teamdata.db`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := terminal.StartProgress(cmd.ErrOrStderr(), "migrating "+app.Place(m.From))
			m.Progress = func(kind store.Kind, n int, readBack bool) { p.Describe(carrying(kind, n, readBack)) }
			carried, err := m.Run(cmd.Context())
			p.Stop()
			switch {
			case err != nil && cmd.Context().Err() != nil:
				return fmt.Errorf("stopped before the end; nothing was carried to %s", app.Named(m.To))
			case err != nil:
				return err
			}
			return printCarried(cmd.OutOrStdout(), m, carried)
		},
	}
	cmd.Flags().StringVar(&m.From, "from", "", "the data `file` to read, or postgres://… for a PostgreSQL database")
	cmd.Flags().StringVar(&m.To, "to", "", "the `file` to create, or postgres://… for an empty PostgreSQL database")
	cmd.Flags().StringVar(&m.SealKeyFile, "seal-key-file", "", "the `file` with the key that the data is sealed with")
	for _, name := range []string{"from", "to"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // there is no such flag
		}
	}
	return cmd
}

func carrying(kind store.Kind, n int, readBack bool) string {
	text := fmt.Sprintf("%s %d", kind, n)
	if readBack {
		return text + " read back"
	}
	return text
}

func printCarried(out io.Writer, m app.Migration, carried store.Carried) error {
	table := terminal.Table{To: out, Right: []int{1}}
	var rows [][]string
	for _, kind := range store.Kinds() {
		if n := carried.Counts[kind]; n > 0 {
			rows = append(rows, []string{string(kind), strconv.Itoa(n)})
		}
	}
	if err := table.Print(rows...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s holds the same as %s: %s, SHA-256 %x\n",
		app.Named(m.To), app.Named(m.From), terminal.Count(carried.Total(), "record"), carried.SHA256)
	return err
}
