package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
	"teamdata/store"
)

// maxFaults is how many faults check prints: a damaged file has them by the
// thousand.
const maxFaults = 100

func checkCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the data for damage",
		Long: `Check looks for damage in a data file that no server has open: in its pages, in
its records, and in its indexes, which it compares with the records. It changes
nothing. Its exit status is 1 if it finds damage.

A database is checked in the same way, also while it is served; what PostgreSQL
keeps beneath is checked by its own pg_amcheck.`,
		Example: "  teamdata check --data /var/lib/teamdata/teamdata.db",
		RunE:    func(cmd *cobra.Command, _ []string) error { return check(cmd.Context(), data, cmd.OutOrStdout()) },
	}
	cmd.Flags().StringVar(&data, "data", app.DefaultData, "the data `file`, or postgres://… for a PostgreSQL database")
	return cmd
}

func check(ctx context.Context, data string, out io.Writer) error {
	faults := 0
	err := app.Check(ctx, data, func(fault string) {
		if faults++; faults <= maxFaults {
			fmt.Fprintln(out, fault)
		}
	})
	if err != nil {
		return err
	}
	if faults > 0 {
		text := fmt.Sprintf("%s is damaged: %s", app.Named(data), terminal.Count(faults, "fault"))
		if faults > maxFaults {
			text += fmt.Sprintf(", of which %d are shown", maxFaults)
		}
		if app.IsDatabase(data) {
			return hint.New(text, "restore the database from a backup")
		}
		return hint.New(text, "restore a backup with: teamdata restore BACKUP --data "+terminal.ShellWord(data))
	}
	fmt.Fprintf(out, "%s is sound\n", app.Named(data))
	if newest, ahead := app.TimeAhead(data); ahead {
		fmt.Fprintf(out, "it holds times up to %s, ahead of the clock; export names the first record that import would refuse\n", store.FormatTime(newest))
	}
	return nil
}

func compactCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Return the free space in a data file to the disk",
		Long: `Compact rewrites a data file without its free space, while no server has it open.
The new file replaces the old one once it is on the disk and verified to hold the
same; until then nothing changes. The disk needs room for both. A sealed file
needs no key.`,
		Example: "  teamdata compact --data /var/lib/teamdata/teamdata.db",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := terminal.StartProgress(cmd.ErrOrStderr(), "compacting "+app.Place(data))
			before, after, err := app.Compact(cmd.Context(), data, p.Report)
			p.Stop()
			if errors.Is(err, context.Canceled) {
				return fmt.Errorf("stopped before the end; data file %s is as it was", data)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "data file %s had %d bytes and has %d now\n", data, before, after)
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", app.DefaultData, "the data `file`")
	return cmd
}
