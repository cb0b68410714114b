package boltstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/e2e/kit"
	"teamdata/store"
)

func TestOpenNoDatabase(t *testing.T) {
	noise := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	for name, content := range map[string][]byte{
		"text":     []byte("members:\n- Ada\n"),
		"one byte": {0},
		"noise":    noise,
		"zeros":    make([]byte, 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "teamdata.db")
			writeFile(t, path, content)
			refuses(t, path, "not a teamdata file", "--data", "backup")
		})
	}
}

// eachWellFilled runs a test on the content of a file that was closed, and of one that
// was not, and so has no list of free pages.
func eachWellFilled(t *testing.T, fn func(t *testing.T, content []byte, used, pageSize int)) {
	closed, used, pageSize := wellFilled(t)
	t.Run("closed", func(t *testing.T) { fn(t, closed, used, pageSize) })
	killed, used, pageSize := stillOpen(t)
	t.Run("killed", func(t *testing.T) { fn(t, killed, used, pageSize) })
}

// wellFilled returns the content of a file of some pages and the length up to
// which pages are in use.
func wellFilled(t *testing.T) (content []byte, used, pageSize int) {
	t.Helper()
	f, used, pageSize := openWellFilled(t)
	f.close()
	return readFile(t, f.path), used, pageSize
}

// stillOpen is wellFilled of a file that is not closed.
func stillOpen(t *testing.T) (content []byte, used, pageSize int) {
	t.Helper()
	f, used, pageSize := openWellFilled(t)
	return readFile(t, f.path), used, pageSize
}

func openWellFilled(t *testing.T) (f *fixture, used, pageSize int) {
	t.Helper()
	f = newFixture(t, Options{NoSync: true})
	f.update(func(tx store.Tx) error {
		for i := range 500 {
			if err := appendAudit(fmt.Sprint("usr_", i))(tx); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, f.db.View(func(tx *bbolt.Tx) error {
		used, pageSize = int(tx.Size()), f.db.Info().PageSize
		return nil
	}))
	return f, used, pageSize
}

// TestOpenCutShort is for a copy that was broken off: bbolt maps the file, so
// touching what is missing would end the process.
func TestOpenCutShort(t *testing.T) {
	content, used, pageSize := wellFilled(t)
	path := filepath.Join(t.TempDir(), "teamdata.db")
	for at := pageSize; at <= used; at += pageSize {
		for _, size := range []int{at - pageSize + 1, at - pageSize/2, at - 1, at} {
			if size == used {
				continue
			}
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				writeFile(t, path, content[:size])
				refuses(t, path, "backup")
			})
		}
	}
	// Behind the last page in use there is nothing to miss.
	f := &fixture{TB: t, path: path}
	writeFile(t, path, content[:used])
	f.open(Options{})
	f.update(appendAudit("usr_1"))
	f.close()
}

func TestOpenDamagedMeta(t *testing.T) {
	t.Parallel()
	content, _, pageSize := wellFilled(t)
	const metaAt = 16 // behind the page's header
	for name, spoil := range map[string]func(page []byte){
		"lost":       func(page []byte) { clear(page) },
		"a flip":     func(page []byte) { page[metaAt+40] ^= 1 },
		"page size":  func(page []byte) { page[metaAt+9] ^= 0x30 },
		"commit no.": func(page []byte) { page[metaAt+54] = 0xff },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "teamdata.db")
			for meta := range 2 {
				damaged := bytes.Clone(content)
				spoil(damaged[meta*pageSize:][:pageSize])
				writeFile(t, path, damaged)
				f := &fixture{TB: t, path: path}
				f.open(Options{})
				f.update(appendAudit("usr_new"))
				f.close()
				wellKept(t, path)
			}
			damaged := bytes.Clone(content)
			spoil(damaged[:pageSize])
			spoil(damaged[pageSize:][:pageSize])
			writeFile(t, path, damaged)
			refuses(t, path, "head is damaged", "backup")
		})
	}
}

// TestOpenDamagedPage loses each page in turn, or every fifth one, as a disk does. What Open needs
// not touch it need not notice, but it never crashes.
func TestOpenDamagedPage(t *testing.T) { eachWellFilled(t, testOpenDamagedPage) }

func testOpenDamagedPage(t *testing.T, content []byte, used, pageSize int) {
	path := filepath.Join(t.TempDir(), "teamdata.db")
	refused, step := 0, pageSize
	if !kit.AtSize() {
		step *= 5
	}
	for at := 2 * pageSize; at < used; at += step {
		for _, fill := range []byte{0, 0x5a} {
			damaged := bytes.Clone(content)
			copy(damaged[at:], bytes.Repeat([]byte{fill}, pageSize))
			writeFile(t, path, damaged)
			s, err := Open(path, Options{NoSync: true})
			if err == nil {
				must(t, s.Close())
				continue
			}
			refused++
			saysOneLine(t, err.Error(), path, "damaged", "backup")
			if !bytes.Equal(damaged, readFile(t, path)) {
				t.Fatal("the file has changed")
			}
		}
	}
	if refused == 0 {
		t.Error("no loss was noticed")
	}
	must(t, os.Remove(path))
}
