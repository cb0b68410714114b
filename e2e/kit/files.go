package kit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/store"
)

func WriteFile(t testing.TB, path, content string) {
	t.Helper()
	Must(t, os.WriteFile(path, []byte(content), 0o600))
}

// NewFile writes a file in a folder of its own.
func NewFile(t testing.TB, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	WriteFile(t, path, content)
	return path
}

// CopyProgram copies a program that is to be run. Another process writes it: a descriptor of
// ours that is open for writing would be in each process that a test beside this one is just
// starting, and as long as one has it the system runs nothing from that file (ETXTBSY).
func CopyProgram(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func ReadText(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	Must(t, err)
	return string(content)
}

// Pages are the paths of all documents of the module, from its root.
func Pages(t testing.TB) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (name[0] == '.' || name == "node_modules"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			pages = append(pages, filepath.ToSlash(path))
		}
		return nil
	})
	Must(t, err)
	return pages
}

// SealKey makes a key file.
func SealKey(t testing.TB, folder string) (path string) {
	t.Helper()
	path = filepath.Join(folder, "seal.key")
	WriteFile(t, path, strings.Repeat("4f", 32)+"\n")
	return path
}

// SeedOf writes a fixture of one org with numbers of members and audit entries,
// whose ids rise from 0.
func SeedOf(t testing.TB, members, entries int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"orgs":[{"id":"org_big","name":"Big","apiKeys":[{"id":"key_read","secret":"example-reader-secret","scopes":["read"],"createdBy":"u0"}],"members":[`)
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"m%07d","userId":"u%d","role":"owner","createdAt":%q}`, i, i, store.FormatTime(at.Add(time.Duration(i/3)*time.Second)))
	}
	b.WriteString(`],"auditLog":[`)
	for i := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"a%07d","actorId":"u%d","action":"file.opened","targetId":"fil_%d","createdAt":%q}`, i, i%97, i, store.FormatTime(at.Add(time.Duration(i/2)*time.Millisecond)))
	}
	b.WriteString("]}]}")
	return NewFile(t, "seed.json", b.String())
}

func Loopback(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// Reserved returns an address of this machine that refuses connections, until the test or
// its program listens there. Meanwhile nobody who asks for any free port gets this one: a
// connection is left open on it.
func Reserved(t testing.TB) (address string) {
	t.Helper()
	for {
		if address, ok := reserve(t); ok {
			return address
		}
	}
}

// release is how long a child that is just being started may keep a listener open which was
// closed.
const release = 5 * time.Second

// reserve is Reserved, unless somebody else listens there by then.
func reserve(t testing.TB) (address string, ok bool) {
	t.Helper()
	l := Loopback(t)
	near, err := net.Dial("tcp", l.Addr().String())
	Must(t, err)
	t.Cleanup(func() { near.Close() })
	far, err := l.Accept()
	Must(t, err)
	t.Cleanup(func() { far.Close() })
	l.Close()
	return l.Addr().String(), Until(release, func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

// ListenOn listens on a reserved address, or again on one that it listened on before.
func ListenOn(t testing.TB, address string) net.Listener {
	t.Helper()
	var l net.Listener
	var err error
	Until(release, func() bool {
		l, err = net.Listen("tcp", address)
		return !errors.Is(err, syscall.EADDRINUSE)
	})
	Must(t, err)
	return l
}
