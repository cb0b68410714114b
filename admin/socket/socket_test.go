package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
)

// open listens at path until the test ends, and echoes a byte to each peer.
func open(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := Listen(path, func(uid uint32) { t.Errorf("user %d was turned away", uid) })
	kit.Must(t, err)
	t.Cleanup(func() { l.Close() })
	go echo(l)
	return l
}

func echo(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		conn.Write([]byte("k"))
		conn.Close()
	}
}

func reach(t *testing.T, path string) error {
	t.Helper()
	conn, err := Dial(context.Background(), path)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Read(make([]byte, 1))
	return err
}

func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	l := open(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != fs.ModeSocket|mode {
		t.Fatalf("the socket is %v, %v", info.Mode(), err)
	}
	kit.Must(t, reach(t, path))
	kit.Must(t, l.Close())
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) > 0 {
		t.Errorf("after the end there is %v", left)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed again: %v", err)
	}
}

// A path of any length does, for those who make folders in folders.
func TestLongPath(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	kit.Must(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "a.sock")
	open(t, path)
	kit.Must(t, reach(t, path))
	if err := reach(t, filepath.Join(folder, "b.sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is none: %v", err)
	}
}

func TestLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	kit.Must(t, err)
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if err := reach(t, path); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("the dead socket: %v", err)
	}
	open(t, path)
	if err := reach(t, path); err != nil {
		t.Error(err)
	}
}

func TestNoSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	kit.Must(t, os.WriteFile(path, []byte("mine"), mode))
	if _, err := Listen(path, nil); err == nil || !strings.Contains(err.Error(), "is not a socket; move it away") {
		t.Errorf("got %v", err)
	}
	if kept, _ := os.ReadFile(path); string(kept) != "mine" {
		t.Errorf("the file now holds %q", kept)
	}
}
