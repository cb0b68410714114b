package socket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"teamdata/internal/hint"
)

// Path is where the socket of a data file is: beside it, unless it was put
// elsewhere.
func Path(elsewhere, data string) string {
	return cmp.Or(elsewhere, data+".sock")
}

// Base is the beginning of the URLs of a [Client]: the host of a socket has no name.
const Base = "http://teamdata"

// Client is a client of the server that listens on the socket at path; nil if none
// does: the socket of a server that was killed stays behind. It follows no
// redirect. End its use with CloseIdleConnections.
func Client(ctx context.Context, path string) (*http.Client, error) {
	conn, err := Dial(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, hint.With(fmt.Errorf("socket %s belongs to another user", path), "run this as the user who runs the server, or as root")
	case err != nil:
		return nil, hint.With(fmt.Errorf("socket %s: %w", path, err), "name the server's with --socket")
	}
	conn.Close()
	return &http.Client{
		Transport: &http.Transport{
			DialContext:  func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, path) },
			MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
