package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"teamdata/cli/bench"
	"teamdata/internal/terminal"
)

func benchCommand() *cobra.Command {
	var asJSON, list bool
	c := bench.Default()
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what this machine can do with teamdata",
		Long: `Bench measures this machine: what its disk, a bare HTTPS handler and a bare
client that signs and posts can do, and what teamdata does beside them, in turns
and in the same run. Machines are busy with other things too, and a figure alone
may be twice another run's; the ratio to its baseline is what stays.

It serves data files of its own in a temporary folder, on the loopback address,
with this program, and removes them at the end. All of it takes about two minutes;
--only and the sizes make it shorter. The disk is the one that holds the folder:
choose another with --dir. Run it while the machine has nothing else to do.`,
		Example: `  teamdata bench
  teamdata bench --dir /var/lib/teamdata
  teamdata bench --only sync,accept,deliver --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				var rows [][]string
				for _, m := range bench.Measurements() {
					rows = append(rows, []string{m.Name, m.What})
				}
				return (&terminal.Table{To: cmd.OutOrStdout()}).Print(rows...)
			}
			line := terminal.StartProgress(os.Stderr, "measuring")
			c.Version, c.Progress = cmd.Root().Version, line.Describe
			if !terminal.Is(os.Stderr) {
				c.Progress = func(step string) { fmt.Fprintln(os.Stderr, "measuring", step) }
			}
			report, err := bench.Run(cmd.Context(), c)
			line.Stop()
			switch {
			case err != nil && cmd.Context().Err() != nil:
				return errors.New("stopped before the end; nothing is left of it")
			case err != nil:
				return err
			case asJSON:
				return terminal.JSON(cmd.OutOrStdout(), report)
			}
			return report.WriteTable(cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	f.BoolVar(&list, "list", false, "say what there is to measure, and measure nothing")
	f.StringSliceVar(&c.Only, "only", nil, "the `names` of what to measure, as --list has them; default: all")
	f.StringVar(&c.Dir, "dir", "", "a `folder` on the disk to measure; default: the system's for temporary files")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "how often a figure and its baseline take turns")
	f.DurationVar(&c.Duration, "duration", c.Duration, "how long one turn of requests lasts")
	f.IntVar(&c.Events, "events", c.Events, "how many events one round of deliver sends")
	f.IntVar(&c.Rate, "rate", c.Rate, "how many events a second latency sends")
	f.IntVar(&c.Members, "members", c.Members, "how many members there are for pages")
	cmd.AddCommand(&cobra.Command{ // a baseline, which bench runs as a separate process
		Use: bench.WorkerCommand, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Work(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	})
	return cmd
}
