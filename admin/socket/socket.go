// Package socket makes and finds Unix sockets. The file of a socket has its mode
// from its first instant on. The socket of the admin API has mode 0600, and the
// credentials of each peer are checked: only users who may open the data file may use
// it.
//
// It imports the standard library alone. The protocol on a socket belongs to the
// API that is served on it.
package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"teamdata/internal/hint"
)

const mode = 0o600

// Listen creates a socket at path, replacing one that a server left behind: the
// caller holds the lock of the data file, so no server listens there. refused is
// called with the user id of each rejected peer.
func Listen(path string, refused func(uid uint32)) (net.Listener, error) {
	l, err := Bind(path, mode)
	if err != nil {
		return nil, err
	}
	return &ownListener{Listener: l, refused: refused}, nil
}

// Bind creates a socket at path, open to users that its mode admits, replacing an
// existing socket. Closing it removes its file.
func Bind(path string, mode fs.FileMode) (*Listener, error) {
	if err := replaceable(path); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".socket-*") // 0700: no access before the mode is set
	if err != nil {
		return nil, fmt.Errorf("socket %s can't be made: %w", path, err)
	}
	defer os.RemoveAll(folder)
	l, err := listen(filepath.Join(folder, "s"), path, mode)
	if err != nil {
		return nil, fmt.Errorf("socket %s can't be made: %w", path, err)
	}
	return &Listener{UnixListener: l, path: path}, nil
}

// listen binds a socket at one path and moves it to another.
func listen(made, path string, mode fs.FileMode) (*net.UnixListener, error) {
	short, done, err := shortened(made)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it knows only the first path
	if err := errors.Join(os.Chmod(made, mode), os.Rename(made, path)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// replaceable refuses a path at which there is anything other than a socket.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return hint.With(fmt.Errorf("%s exists and is not a socket", path), "move it away, or give another path")
	}
	return nil
}

// Listener is a socket whose file is removed on close.
type Listener struct {
	*net.UnixListener
	path    string
	closing sync.Once
}

// Addr is where the socket is, and not where it was made.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close ends the listener and removes the socket's file.
func (l *Listener) Close() error {
	err := error(net.ErrClosed)
	l.closing.Do(func() {
		os.Remove(l.path) // before another server can have made its own
		err = l.UnixListener.Close()
	})
	return err
}

// ownListener accepts the peers that may use the socket.
type ownListener struct {
	*Listener
	refused func(uid uint32)
}

// Accept waits for the next peer that runs as this process's user or as root.
func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peer(conn)
		if err == nil && (uid == 0 || uid == uint32(os.Geteuid())) {
			return conn, nil
		}
		conn.Close()
		if err == nil {
			l.refused(uid)
		}
	}
}

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortened(path)
	if err != nil {
		return nil, err
	}
	defer done()
	return new(net.Dialer).DialContext(ctx, "unix", short)
}

// maxPath is how long a socket's path may be, in bytes, on every system.
const maxPath = 100

// shortened is a path that the system takes for the same file; done ends its
// use.
func shortened(path string) (short string, done func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	short = fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path))
	if _, err := os.Stat(filepath.Dir(short)); err != nil || len(short) > maxPath {
		folder.Close()
		return "", nil, hint.With(fmt.Errorf("its path has %d bytes, and the system takes %d", len(path), maxPath), "give a shorter one")
	}
	return short, func() { folder.Close() }, nil
}
