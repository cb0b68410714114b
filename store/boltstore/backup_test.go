//go:build unix

package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"teamdata/store/boltstore/boltfile"
)

// TestBackupWhileWriting takes backups while writers write. Each holds what was
// committed before it began, is of one moment, and is sound.
func TestBackupWhileWriting(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	var committed atomic.Int64
	var stop atomic.Bool
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for !stop.Load() {
				f.update(numbered(fmt.Sprint(committed.Add(1))))
			}
		})
	}
	folder := t.TempDir()
	for round := range 5 {
		until(t, "more is written", func() bool { return committed.Load() > int64(200*round) })
		before := f.auditCount()
		b := &fixture{TB: t, path: filepath.Join(folder, fmt.Sprint(round, ".db"))}
		must(t, f.Backup(bg, b.path))
		wellKept(t, b.path)
		b.open(Options{NoSync: true})
		if found := b.findNumbered(); len(found) < before {
			t.Errorf("the backup holds %d of %d entries", len(found), before)
		}
		b.close()
		info, err := os.Stat(b.path)
		if must(t, err); info.Mode() != boltfile.Mode {
			t.Errorf("mode %v", info.Mode())
		}
	}
	stop.Store(true)
	writing.Wait()
	if entries, err := os.ReadDir(folder); len(entries) != 5 {
		t.Errorf("%d files for 5 backups, %v", len(entries), err)
	}
}

func (f *fixture) auditCount() (n int) {
	f.Helper()
	must(f, f.Store.view(func(t *tx) error {
		n = t.bolt.Bucket([]byte("auditLog")).Stats().KeyN
		return nil
	}))
	return n
}

// TestSnapshotStalls: commits go on, and use the space again that they free,
// while a snapshot is not read. What is read then is the moment it was taken.
func TestSnapshotStalls(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	before := f.dump()
	snapshot, err := f.Snapshot(bg)
	must(t, err)
	alone(t, f.path)
	for i := range 20 {
		f.update(putBig(fmt.Sprint(i % 2)))
	}
	grown := sizeAt(t, f.path)
	for i := range 200 {
		f.update(putBig(fmt.Sprint(i % 2)))
	}
	if size := sizeAt(t, f.path); size > grown {
		t.Errorf("the file grew from %d to %d bytes", grown, size)
	}
	content, err := io.ReadAll(snapshot)
	must(t, errors.Join(err, snapshot.Close()))
	b := &fixture{TB: t, path: filepath.Join(t.TempDir(), "received.db")}
	must(t, ReceiveBackup(bg, bytes.NewReader(content), int64(len(content)), b.path))
	b.open(Options{})
	if b.dump() != before {
		t.Error("the snapshot holds something else")
	}
	b.close()
}

func sizeAt(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// TestReceiveBackupRefuses what is cut short, goes on, is damaged, or breaks
// off. There is no file then.
func TestReceiveBackupRefuses(t *testing.T) {
	content, used, pageSize := wellFilled(t)
	content = content[:used]
	damaged := bytes.Clone(content)
	clear(damaged[3*pageSize:])
	size := int64(used)
	for name, c := range map[string]struct {
		from io.Reader
		want string
	}{
		"cut short": {bytes.NewReader(content[:used-1]), fmt.Sprintf("sent %d bytes of %d", used-1, used)},
		"too long":  {bytes.NewReader(append(bytes.Clone(content), 0)), "try again"},
		"damaged":   {bytes.NewReader(damaged), "is damaged"},
		"no file":   {strings.NewReader(strings.Repeat("x", used)), "not a teamdata file"},
		"broken":    {io.MultiReader(bytes.NewReader(content[:pageSize]), brokenReader{}), "the line broke"},
	} {
		to := filepath.Join(t.TempDir(), "backup.db")
		err := ReceiveBackup(bg, c.from, size, to)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		saysOneLine(t, err.Error(), to, c.want)
		if entries, _ := os.ReadDir(filepath.Dir(to)); len(entries) != 0 {
			t.Errorf("%s: leaves %v", name, entries)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the line broke") }

// TestBackupRefuses: what can't be backed up, or has no place, is one line with
// a hint, and leaves nothing.
func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	f := newWhole(t)
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	writeFile(t, at("there"), []byte("precious"))
	writeFile(t, at("text"), []byte("no data"))
	writeSchema(t, at("newer"), schemaVersion()+1)
	writeFile(t, at("damaged"), torn(readFile(t, f.path)))
	busy := newFixture(t, Options{NoSync: true})
	for name, c := range map[string]struct {
		from, to string
		wants    []string
	}{
		"a file is there": {f.path, at("there"), []string{at("there"), "already", "another name"}},
		"no folder":       {f.path, at("none/x"), []string{"no folder", "mkdir -p"}},
		"in a file":       {f.path, at("there/x"), []string{at("there")}},
		"no data file":    {at("missing"), at("x"), []string{at("missing"), "does not exist"}},
		"no teamdata":     {at("text"), at("x"), []string{at("text"), "not a teamdata file"}},
		"newer":           {at("newer"), at("x"), []string{at("newer"), "newer teamdata"}},
		"damaged":         {at("damaged"), at("x"), []string{at("damaged"), "damaged"}},
		"in use":          {busy.path, at("x"), []string{busy.path, "in use by process"}},
	} {
		err := BackupFile(bg, c.from, c.to)
		if err == nil {
			t.Errorf("%s: was backed up", name)
			continue
		}
		saysOneLine(t, err.Error(), c.wants...)
	}
	if got := readFile(t, at("there")); string(got) != "precious" {
		t.Errorf("the file that was there holds %q", got)
	}
	alone(t, at("there"), "text", "newer", "damaged")
}

// TestBackupStops: a done context ends a backup, and leaves nothing.
func TestBackupStops(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, snapshot := f.Snapshot(ctx)
	for name, err := range map[string]error{
		"Backup":        f.Backup(ctx, filepath.Join(t.TempDir(), "x")),
		"Snapshot":      snapshot,
		"ReceiveBackup": ReceiveBackup(ctx, strings.NewReader("x"), 1, filepath.Join(t.TempDir(), "x")),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	alone(t, f.path)
}

// TestBackupSealed: a sealed file is backed up and compacted without its key,
// and opens with it.
func TestBackupSealed(t *testing.T) {
	f := newFixture(t, sealed(t))
	f.addSecrets()
	b := &fixture{TB: t, path: filepath.Join(t.TempDir(), "backup.db")}
	must(t, f.Backup(bg, b.path))
	f.close()
	_, _, err := Compact(bg, b.path, nil)
	must(t, err)
	_, err = Restore(bg, b.path, f.path, someTime)
	must(t, err)
	refuses(t, f.path, "is sealed")
	f.open(sealed(t))
	f.hasSecrets()
}
