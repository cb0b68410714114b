package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/terminal"
)

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
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := terminal.StartProgress(cmd, "compacting "+data)
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
