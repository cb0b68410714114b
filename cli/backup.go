package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/cli/operator"
	"teamdata/internal/terminal"
)

func backupCommand() *cobra.Command {
	var from app.Source
	cmd := &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Copy the data file, even while it is served",
		Long: `Writes a consistent copy of a data file to a new file, and verifies it before
the file gets its name. While a server has the data file open, the server makes
the copy and keeps serving. An existing file is never overwritten.

With - the copy is written to stdout once it is verified; until then it is kept
in the system's folder for temporary files (TMPDIR). A backup contains the same
secrets as the data file: protect it just as carefully.`,
		Example: `  teamdata backup /var/backups/teamdata.db --data /var/lib/teamdata/teamdata.db
  teamdata backup - | gzip | ssh backup@example.com 'cat > teamdata.db.gz'`,
		Args: exactly("the file to write, or - for stdout"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := terminal.StartProgress(cmd.ErrOrStderr(), "backing up "+app.Place(from.Data))
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

func restoreCommand() *cobra.Command {
	var data string
	var yes bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Replace the data file with a backup",
		Long: `Replaces a data file that no server has open with a copy of a backup. The copy
is verified first. The old file is kept beside the new one, with the time in
its name: delete it once you don't need it. If restore is interrupted, either
the old or the new file is in place.

All changes since the backup are undone, including deliveries: events that were
waiting to be sent at that time are sent again. A backup of a sealed file needs
the key that the file had then.`,
		Example: `  teamdata restore /var/backups/teamdata-20261121T120000Z.db --data /var/lib/teamdata/teamdata.db
  teamdata restore backup.db --yes`,
		Args: exactly("the backup, a file that teamdata backup has written"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, errBackup := os.Stat(args[0])
			if _, err := os.Stat(data); err == nil && errBackup == nil {
				if err := terminal.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr(), yes, fmt.Sprintf("This replaces the data file %s with %s", data, args[0])); err != nil {
					return err
				}
			}
			return restore(cmd, args[0], data)
		},
	}
	cmd.Flags().StringVar(&data, "data", app.DefaultData, "the data `file`")
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask before a file is replaced")
	return cmd
}

func restore(cmd *cobra.Command, backup, data string) error {
	p := terminal.StartProgress(cmd.ErrOrStderr(), "restoring "+app.Place(data))
	kept, err := app.Restore(cmd.Context(), backup, data, time.Now())
	p.Stop()
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("stopped before the end; data file %s is as it was", data)
	case err != nil:
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "data file %s is a copy of %s, and sound\n", data, backup)
	if kept != "" {
		fmt.Fprintf(out, "the previous file is now %s\n", kept)
	}
	return nil
}

// exactly is for a command with one argument.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return operator.SeeHelp(cmd, errors.New("give "+what))
		}
		return nil
	}
}
