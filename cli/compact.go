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
		Short: "Give the free space in a data file back to the disk",
		Long: `Compact writes a data file anew, without the space that is free in it, while no
server has it open. The new file takes the old one's place once it is on the
disk and found to hold the same; until then nothing changes. The disk needs room
for both. A sealed file needs no key.`,
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
