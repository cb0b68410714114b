//go:build unix

package postgres

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/internal/system"
)

// apart are the attributes of PostgreSQL's processes: without the terminal, and as the
// user postgres if this is root. Without that user it says why not.
func apart() (attributes *syscall.SysProcAttr, why string) {
	attributes = &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() != 0 {
		return attributes, ""
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, "PostgreSQL refuses to run as root, and there is no user postgres"
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(errUID, errGID); err != nil {
		return nil, err.Error()
	}
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attributes, ""
}

// watch outlives the test process: when its standard input ends, because the process
// that holds the other end did, it stops the server in a folder, with its pooler, and
// removes the folder.
const watch = `cat >/dev/null; for pid in "$1"/pooler-*.pid; do [ ! -e "$pid" ] || kill -QUIT $(cat "$pid"); done; [ ! -e "$1/data/postmaster.pid" ] || "$2" -D "$1/data" -m immediate stop; rm -rf "$1"`

// holders are the ends of the pipes that the watchers wait at; they are never closed,
// so that the end of the process closes them.
var holders struct {
	sync.Mutex
	ends []io.Closer
}

// memory is a folder in memory, where tests may need as much as enough.
const (
	memory = "/dev/shm"
	enough = 6 << 30
)

// place is where the folders of servers are: in memory, if there is plenty, since the
// tests make and remove some 100,000 files; for benchmarks and full sizes on a disk.
func place(t testing.TB) string {
	folder := os.TempDir()
	if free, known := system.DiskFree(memory); known && free >= enough && !isBenchmark(t) && !kit.AtSize() {
		folder = memory
	}
	if len(folder) > 60 {
		folder = "/tmp"
	}
	return folder
}

// newFolder makes a folder for a server, which goes when the test process ends,
// however it ends. Its path is short, since that of a socket may be at most 107 bytes.
func newFolder(t testing.TB) string {
	t.Helper()
	stop := command(t, "pg_ctl")
	folder, err := os.MkdirTemp(place(t), "pgtest-")
	kit.Must(t, err)
	own(t, folder)
	watcher := exec.Command("sh", "-c", watch, "watch", folder, stop.Path)
	watcher.Dir, watcher.Env, watcher.SysProcAttr = "/", stop.Env, stop.SysProcAttr
	end, err := watcher.StdinPipe()
	kit.Must(t, err)
	kit.Must(t, watcher.Start())
	holders.Lock()
	defer holders.Unlock()
	holders.ends = append(holders.ends, end)
	return folder
}

// own gives a file to the user of PostgreSQL's processes.
func own(t testing.TB, path string) {
	t.Helper()
	attributes, why := apart()
	if why != "" {
		t.Fatal(why)
	}
	if c := attributes.Credential; c != nil {
		kit.Must(t, os.Chown(path, int(c.Uid), int(c.Gid)))
	}
}
