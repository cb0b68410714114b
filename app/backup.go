package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"teamdata/admin/socket"
	"teamdata/internal/terminal"
	"teamdata/store/boltstore"
)

// Source is what a backup is made of.
type Source struct {
	Data   string
	Socket string // of the server that has it open; empty: beside the data file
}

// Backup copies the data file to a new file, itself or through the server, and
// tells out.
func (s Source) Backup(ctx context.Context, to string, out io.Writer) error {
	err := boltstore.BackupFile(ctx, s.Data, to)
	if errors.Is(err, boltstore.ErrInUse) {
		err = backupFromServer(ctx, err, socket.Path(s.Socket, s.Data), to)
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
	_, err = fmt.Fprintf(out, "%s: %d bytes, a copy of data file %s, and sound\n", to, info.Size(), s.Data)
	return err
}

// BackupTo copies the data file to a stream.
func (s Source) BackupTo(ctx context.Context, to, say io.Writer) error {
	if out, ok := to.(*os.File); ok && terminal.Is(out) {
		return errors.New("a data file is nothing for a terminal; send stdout to a file or a program, or give a file in place of -")
	}
	folder, err := os.MkdirTemp("", "teamdata-backup-") // with mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "teamdata.db")
	if err := s.Backup(ctx, path, io.Discard); err != nil {
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
	_, err = fmt.Fprintf(say, "stdout: %d bytes, a copy of data file %s, and sound\n", n, s.Data)
	return err
}
