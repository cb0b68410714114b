package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"teamdata/admin/socket"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
)

// Source is the source of a backup.
type Source struct {
	Data   string
	Socket string // of the server that has it open; empty: beside the data file
}

// Backup copies the data file to a new file, directly or through the server, and
// reports to out.
func (s Source) Backup(ctx context.Context, to string, out io.Writer) error {
	if err := locate(s.Data).fileOnly(dumpAdvice); err != nil {
		return err
	}
	err := boltstore.BackupFile(ctx, s.Data, to)
	if errors.Is(err, boltfile.ErrInUse) {
		err = backupFromServer(ctx, err, socket.Path(s.Socket, s.Data), to)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped before the end; nothing is left behind")
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
		return hint.New("a data file can't be written to a terminal", "send stdout to a file or a program, or give a file in place of -")
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
		return fmt.Errorf("stdout accepted only %d bytes: %w", n, err)
	}
	_, err = fmt.Fprintf(say, "stdout: %d bytes, a copy of data file %s, and sound\n", n, s.Data)
	return err
}

const (
	backupSizeHeader = "Teamdata-Backup-Size" // bytes
	backupTimeout    = 6 * time.Hour          // of a backup that a server sends
)

// backupFromServer requests a backup from the server that has the data file open.
// inUse is the error if no server listens on the socket.
func backupFromServer(ctx context.Context, inUse error, path, to string) error {
	ctx, cancel := context.WithTimeout(ctx, backupTimeout)
	defer cancel()
	client, err := socket.Client(ctx, path)
	switch {
	case err != nil:
		return err
	case client == nil:
		return hint.With(inUse, "if it is a server, name its socket with --socket: no server listens on "+path)
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, socket.Base+"/admin/v1/backup", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the server on %s sends no backup: %w", path, err)
	}
	defer answer.Body.Close()
	size, err := strconv.ParseInt(answer.Header.Get(backupSizeHeader), 10, 64)
	if answer.StatusCode != http.StatusOK || err != nil {
		return fmt.Errorf("the server on %s sends no backup: it answered %s%s", path, answer.Status, reasonIn(answer.Body))
	}
	return boltstore.ReceiveBackup(ctx, answer.Body, size, to)
}

// reasonIn returns the message in the body of an error, ready to follow other words.
func reasonIn(body io.Reader) string {
	var answer struct {
		Error struct{ Message string }
	}
	const limit = 64 << 10
	if json.NewDecoder(io.LimitReader(body, limit)).Decode(&answer) != nil || answer.Error.Message == "" {
		return ""
	}
	return ": " + answer.Error.Message
}
