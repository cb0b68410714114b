package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"teamdata/admin/socket"
	"teamdata/store/boltstore"
	"teamdata/terminal"
)

func backupCommand() *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Copy the data file, also while it is served",
		Long: `Backup writes a copy of one moment of a data file to a new file, and verifies
it before it gets its name. While a server has the data file open, the server
makes the copy, and goes on serving. It never writes over a file.

With - the copy goes to stdout, once it is verified; it waits in the system's
folder for temporary files, TMPDIR, until then. A backup holds the secrets that
the data file holds: keep it as you would keep that.`,
		Example: `  teamdata backup /var/backups/teamdata.db --data /var/lib/teamdata/teamdata.db
  teamdata backup - | gzip | ssh backup@example.com 'cat > teamdata.db.gz'`,
		Args: exactly("the file to write, or - for stdout"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := terminal.StartProgress(cmd, "backing up "+from.data)
			defer p.Stop()
			if args[0] == "-" {
				return from.backupTo(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return from.backup(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&from.data, "data", defaultData, "the data `file`")
	cmd.Flags().StringVar(&from.socket, "socket", "", "the Unix `socket` of the server that has it open; default: beside the data file")
	return cmd
}

// source is what a backup is made of.
type source struct{ data, socket string }

// backup is that of a data file whose server, if it has one, listens beside it.
func backup(ctx context.Context, data, to string, out io.Writer) error {
	return source{data: data}.backup(ctx, to, out)
}

// backup copies the data file to a new file, itself or through the server, and
// tells out.
func (s source) backup(ctx context.Context, to string, out io.Writer) error {
	err := boltstore.BackupFile(ctx, s.data, to)
	if errors.Is(err, boltstore.ErrInUse) {
		err = backupFromServer(ctx, err, socket.Path(s.socket, s.data), to)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped before the end; nothing is left of it")
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d bytes, a copy of data file %s, and sound\n", to, info.Size(), s.data)
	return err
}

// backupTo copies the data file to a stream.
func (s source) backupTo(ctx context.Context, to, say io.Writer) error {
	if out, ok := to.(*os.File); ok && terminal.Is(out) {
		return errors.New("a data file is nothing for a terminal; send stdout to a file or a program, or give a file in place of -")
	}
	folder, err := os.MkdirTemp("", "teamdata-backup-") // with mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "teamdata.db")
	if err := s.backup(ctx, path, io.Discard); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(to, file)
	if err != nil {
		return fmt.Errorf("stdout took %d bytes and no more: %w", n, err)
	}
	_, err = fmt.Fprintf(say, "stdout: %d bytes, a copy of data file %s, and sound\n", n, s.data)
	return err
}
