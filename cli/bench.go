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
		Long: `Measures how fast the disk, a bare HTTPS handler and a bare client that signs
and posts are, and how fast teamdata is beside them. They take turns in the
same run: a figure by itself may vary by a factor of two from run to run, but
its ratio to the baseline hardly does.

It serves data files of its own from a temporary folder, on the loopback
address, and removes them at the end. A whole run takes about two minutes;
--only and smaller sizes make it shorter. It measures the disk that holds the
folder; choose another with --dir. Run it while the machine has nothing else to
do.`,
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
				return errors.New("stopped before the end; nothing is left behind")
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
	f.BoolVar(&list, "list", false, "list the measurements, and run none")
	f.StringSliceVar(&c.Only, "only", nil, "the `names` of the measurements to run, as in --list; default: all")
	f.StringVar(&c.Dir, "dir", "", "a `folder` on the disk to measure; default: the system's folder for temporary files")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "the `number` of times that a figure and its baseline take turns")
	f.DurationVar(&c.Duration, "duration", c.Duration, "how long one turn of requests lasts")
	f.IntVar(&c.Events, "events", c.Events, "the `number` of events that a round of deliver sends")
	f.IntVar(&c.Rate, "rate", c.Rate, "the `number` of events a second that latency sends")
	f.IntVar(&c.Members, "members", c.Members, "the `number` of members that pages reads")
	cmd.AddCommand(&cobra.Command{ // a baseline, which bench runs as a separate process
		Use: bench.WorkerCommand, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Work(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	})
	return cmd
}
