package cli

import (
	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/terminal"
)

func backupCommand() *cobra.Command {
	var from app.Source
	cmd := &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Copy the data file, also while it is served",
		Long: `Backup writes a consistent copy of a data file to a new file, and verifies it
before the file gets its name. While a server has the data file open, the server
makes the copy and keeps serving. Backup never overwrites a file.

With - the copy is written to stdout once it is verified; until then it is kept
in the system's folder for temporary files, TMPDIR. A backup holds the same
secrets as the data file: protect it as well.`,
		Example: `  teamdata backup /var/backups/teamdata.db --data /var/lib/teamdata/teamdata.db
  teamdata backup - | gzip | ssh backup@example.com 'cat > teamdata.db.gz'`,
		Args: exactly("the file to write, or - for stdout"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := terminal.StartProgress(cmd, "backing up "+from.Data)
			defer p.Stop()
			if args[0] == "-" {
				return from.BackupTo(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return from.Backup(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&from.Data, "data", app.DefaultData, "the data `file`")
	cmd.Flags().StringVar(&from.Socket, "socket", "", "the Unix `socket` of the server that has it open; default: beside the data file")
	return cmd
}
