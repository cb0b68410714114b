package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"teamdata/admin/socket"
	"teamdata/store/boltstore"
)

const (
	backupSizeHeader = "Teamdata-Backup-Size" // bytes
	backupTimeout    = 6 * time.Hour          // of a backup that a server sends
)

// backupFromServer has the server that holds the lock on the data file send a
// backup. inUse is told where no server listens on the socket.
func backupFromServer(ctx context.Context, inUse error, path, to string) error {
	ctx, cancel := context.WithTimeout(ctx, backupTimeout)
	defer cancel()
	client, err := socket.Client(ctx, path)
	switch {
	case err != nil:
		return err
	case client == nil:
		return fmt.Errorf("%w; if that is a server, name its socket with --socket: nobody listens on %s", inUse, path)
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

// reasonIn is what the body of an error says, ready to follow other words.
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
