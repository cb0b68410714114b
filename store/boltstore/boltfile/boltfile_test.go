package boltfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/internal/hint"
)

// Whole files with records in them, and processes that are killed at each step,
// have their tests in boltstore.

var bg = context.Background()

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sound(string) error { return nil }

// fill puts numbered entries in two buckets, one of which holds a bucket.
func fill(tx *bbolt.Tx) error {
	plain, err := tx.CreateBucketIfNotExists([]byte("plain"))
	if err != nil {
		return err
	}
	outer, err := tx.CreateBucketIfNotExists([]byte("outer"))
	if err != nil {
		return err
	}
	inner, err := outer.CreateBucketIfNotExists([]byte("inner"))
	for i := range 500 {
		key := fmt.Append(nil, 1000+i)
		err = errors.Join(err, plain.Put(key, bytes.Repeat(key, 10)), inner.Put(key, key))
	}
	return errors.Join(err, plain.SetSequence(7))
}

// filled makes a file with entries at a path of its own.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "teamdata.db")
	var db *bbolt.DB
	_, err := Open(path, Options{NoSync: true}, func(opened *bbolt.DB) error {
		db = opened
		return db.Update(fill)
	})
	must(t, err)
	must(t, db.Close())
	return path
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// TestErrors: each says the path and what is wrong in one line, and what to do apart
// from it.
func TestErrors(t *testing.T) {
	path := filled(t)
	db, err := bbolt.Open(path, Mode, nil)
	must(t, err)
	defer db.Close()
	folder := filepath.Dir(path)
	text := filepath.Join(folder, "text")
	must(t, os.WriteFile(text, []byte("members:\n- Ada\n"), Mode))
	nothing := func(*bbolt.DB) error { return nil }
	for name, c := range map[string]struct {
		err              error
		path, text, hint string
	}{
		"in use":      {Read(path, nothing), path, "in use by", "stop that process"},
		"locked":      {Rebuild(bg, path, nil, sound), path, "in use by", "stop that process"},
		"missing":     {Read(folder+"/none", nothing), folder + "/none", "does not exist", "--data"},
		"no folder":   {Read(folder+"/none/x", nothing), folder + "/none/x", "no folder", "mkdir -p " + folder + "/none"},
		"folder":      {Read(folder, nothing), folder, "is a folder", "the path of a file"},
		"no database": {Read(text, nothing), text, "is not a teamdata file", "a backup"},
		"already":     {BackupFile(bg, path, text, sound), text, "already exists", "another name"},
		"cut short":   {ReceiveBackup(bg, strings.NewReader("x"), 2, folder+"/b", sound), folder + "/b", "sent 1 bytes of 2", "try again"},
	} {
		var hinted interface{ Hint() string }
		if !errors.As(c.err, &hinted) || !strings.Contains(hinted.Hint(), c.hint) {
			t.Errorf("%s: the hint of %v is not %s", name, c.err, c.hint)
			continue
		}
		line := c.err.Error()
		if text, hinted := hint.Split(c.err); hinted == "" || text+"; "+hinted != line {
			t.Errorf("%s: it is split into %q and %q", name, text, hinted)
		}
		if !strings.HasPrefix(line, "data file "+c.path+" ") || !strings.Contains(line, c.text) || strings.Contains(line, "\n") {
			t.Errorf("%s: it says %q", name, line)
		}
		if errors.Is(c.err, ErrInUse) != strings.Contains(c.text, "in use") {
			t.Errorf("%s: its reason is %v", name, errors.Unwrap(c.err))
		}
	}
}

// TestRenamed: an error about a temporary file names the file that matters, in its
// hint too.
func TestRenamed(t *testing.T) {
	err := rename("/srv/a.db", "/srv/.a.db.restore-1", cantWrite("/srv/.a.db.restore-1", &os.PathError{Op: "write", Path: "/srv/.a.db.restore-1", Err: os.ErrPermission}))
	text, advice := hint.Split(err)
	if !strings.Contains(text, "data file /srv/a.db can't be written by this user") || strings.Contains(err.Error(), "restore-1") || advice == "" || strings.Contains(text, advice) {
		t.Errorf("it says %q; %q", text, advice)
	}
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("its reason is lost: %v", err)
	}
}

// TestOpenFails: what prepare refuses, or breaks off, leaves the file as it was.
func TestOpenFails(t *testing.T) {
	onPurpose := errors.New("on purpose")
	for name, prepare := range map[string]func(*bbolt.DB) error{
		"an error": func(db *bbolt.DB) error { return errors.Join(db.Update(fill), onPurpose) },
		"a panic":  func(*bbolt.DB) error { panic("a page is not what it should be") },
	} {
		path := filepath.Join(t.TempDir(), "teamdata.db")
		if _, err := Open(path, Options{}, prepare); err == nil || errors.Is(err, onPurpose) != (name == "an error") || errors.Is(err, errPage) != (name == "a panic") {
			t.Errorf("%s: opened with %v", name, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: a file is left: %v", name, err)
		}
	}
}

// TestOpenReplaced: a file that is replaced while it is being opened is opened again,
// and the one that is there then is what prepare sees.
func TestOpenReplaced(t *testing.T) {
	path, other := filled(t), filled(t)
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	must(t, os.Rename(other, path))
	if isAt(file, path) {
		t.Error("a file that has lost its place is taken for the one at the path")
	}
	swaps := 0
	_, _, err = openCurrent(path, func(int64) (*bbolt.DB, error) { swaps++; return nil, errSwapped })
	if swaps != maxSwaps || err == nil || !strings.Contains(err.Error(), "keeps being replaced") {
		t.Errorf("after %d times: %v", swaps, err)
	}
}

// TestSameNotices: a copy that lacks, adds or changes anything is not the same.
func TestSameNotices(t *testing.T) {
	original, err := bbolt.Open(filled(t), Mode, nil)
	must(t, err)
	defer original.Close()
	plain, inner := []byte("plain"), []byte("inner")
	for name, change := range map[string]func(tx *bbolt.Tx) error{
		"nothing":  func(*bbolt.Tx) error { return nil },
		"lost":     func(tx *bbolt.Tx) error { return tx.Bucket(plain).Delete([]byte("1003")) },
		"spoiled":  func(tx *bbolt.Tx) error { return tx.Bucket(plain).Put([]byte("1003"), []byte("x")) },
		"added":    func(tx *bbolt.Tx) error { return tx.Bucket(plain).Put([]byte("zzz"), nil) },
		"bucket":   func(tx *bbolt.Tx) error { return tx.DeleteBucket(plain) },
		"nested":   func(tx *bbolt.Tx) error { return tx.Bucket([]byte("outer")).Bucket(inner).Delete([]byte("1499")) },
		"sequence": func(tx *bbolt.Tx) error { return tx.Bucket(plain).SetSequence(99) },
	} {
		changed, err := bbolt.Open(filled(t), Mode, nil)
		must(t, err)
		must(t, changed.Update(change))
		if same(original, changed) == nil != (name == "nothing") || same(changed, original) == nil != (name == "nothing") {
			t.Errorf("%s: not noticed", name)
		}
		must(t, changed.Close())
	}
}

// TestWalkPages counts all pages in use, and notices that one is lost.
func TestWalkPages(t *testing.T) {
	path := filled(t)
	db, err := bbolt.Open(path, Mode, nil)
	must(t, err)
	used, err := WalkPages(db, nil)
	must(t, err)
	size, root := int64(db.Info().PageSize), int64(0)
	must(t, db.View(func(bolt *bbolt.Tx) error {
		h, err := headOf(open(t, path), bolt)
		must(t, err)
		free, err := readFreelistLen(open(t, path), h)
		if all := bolt.Size(); used != all-(2+free)*size { // the two heads are not counted
			t.Errorf("%d bytes are in use, of %d with %d pages free", used, all, free)
		}
		root = int64(bolt.Cursor().Bucket().RootPage())
		return err
	}))
	must(t, db.Close())
	b := content(t, path)
	clear(b[root*size:][:size])
	must(t, os.WriteFile(path, b, Mode))
	err = Read(path, func(db *bbolt.DB) error {
		_, err := WalkPages(db, nil)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("without its root the file is walked with %v", err)
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

// TestCopies: each way to copy a file makes one that holds the same, and one that is
// not sound gets no name.
func TestCopies(t *testing.T) {
	path := filled(t)
	onPurpose := errors.New("not sound")
	for name, backup := range map[string]func(to string, verify Verify) error{
		"file": func(to string, verify Verify) error { return BackupFile(bg, path, to, verify) },
		"open": func(to string, verify Verify) error {
			db, err := bbolt.Open(path, Mode, nil)
			must(t, err)
			defer db.Close()
			return Backup(bg, path, db.View, to, verify)
		},
		"received": func(to string, verify Verify) error {
			db, err := bbolt.Open(path, Mode, nil)
			must(t, err)
			defer db.Close()
			snapshot, err := Snapshot(bg, path, db.View)
			must(t, err)
			defer snapshot.Close()
			size, err := snapshot.Seek(0, io.SeekEnd)
			must(t, err)
			_, err = snapshot.Seek(0, io.SeekStart)
			must(t, err)
			return ReceiveBackup(bg, snapshot, size, to, verify)
		},
		"restored": func(to string, verify Verify) error {
			_, err := Restore(bg, path, to, time.Now(), verify)
			return err
		},
	} {
		to := filepath.Join(t.TempDir(), "copy.db")
		verified := ""
		err := backup(to, func(temp string) error { verified = temp; return onPurpose })
		if !errors.Is(err, onPurpose) || verified == "" || verified == to {
			t.Errorf("%s: %s is verified, %v", name, verified, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(to)); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v are left, %v", name, entries, err)
		}
		must(t, backup(to, sound))
		must(t, Read(path, func(one *bbolt.DB) error {
			return Read(to, func(other *bbolt.DB) error { return same(one, other) })
		}))
	}
}

// TestSparseWriter leaves gaps where there are only zeros, and the file is the same.
func TestSparseWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "teamdata.db")
	want := make([]byte, 1<<20)
	copy(want[100<<10:], "something")
	must(t, os.WriteFile(path, want, Mode))
	must(t, Rebuild(bg, path, func(string) (Filled, error) { return Filled{}, nil }, sound))
	if !bytes.Equal(content(t, path), want) {
		t.Error("the copy is not what the file was")
	}
}

// TestRebuildKeeps the old file under the name that is asked for.
func TestRebuildKeeps(t *testing.T) {
	path := filled(t)
	before, written := content(t, path), time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	must(t, os.Chtimes(path, written, written))
	must(t, Rebuild(bg, path, func(temp string) (Filled, error) {
		return Filled{KeepInfix: ".old-"}, os.WriteFile(temp, []byte("new"), Mode)
	}, sound))
	if got := content(t, path); string(got) != "new" {
		t.Errorf("%d bytes are in its place", len(got))
	}
	if !bytes.Equal(content(t, path+".old-20261006T120000Z"), before) {
		t.Error("the kept file is not the old one")
	}
}

// TestPacedWriterStops when its context is done, and says why.
func TestPacedWriterStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(bg)
	w := &pacedWriter{ctx: ctx, file: open(t, filled(t))}
	cancel(errSlowDisk)
	if _, err := w.Write([]byte("x")); !errors.Is(err, errSlowDisk) || !errors.Is(w.failed, errSlowDisk) {
		t.Errorf("it ended with %v", err)
	}
	var hinted interface{ Hint() string }
	if err := cantWrite("x", w.failed); !errors.As(err, &hinted) || hinted.Hint() != "choose another disk" {
		t.Errorf("it is reported as %v", err)
	}
}

// TestPlaceIsLost: whatever takes the file from its path is noticed with the next
// commit, whether names in its folder changed lately or not.
func TestPlaceIsLost(t *testing.T) {
	for name, lose := range map[string]func(folder, path string) error{
		"removed":        func(_, path string) error { return os.Remove(path) },
		"renamed":        func(_, path string) error { return os.Rename(path, path+".old") },
		"folder renamed": func(folder, _ string) error { return os.Rename(folder, folder+".old") },
		"replaced": func(_, path string) error {
			other := path + ".other"
			return errors.Join(os.WriteFile(other, nil, Mode), os.Rename(other, path))
		},
		"link removed": func(folder, path string) error { // the file's own folder stays as it is
			return os.Remove(filepath.Join(folder, "real", "file"))
		},
	} {
		for _, aged := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " aged ", aged), func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), "data")
				must(t, os.MkdirAll(filepath.Join(folder, "real"), 0o700))
				path := filepath.Join(folder, "file")
				if must(t, os.Rename(filled(t), filepath.Join(folder, "real", "file"))); name == "link removed" {
					must(t, os.Symlink(filepath.Join("real", "file"), path))
				} else {
					must(t, os.Rename(filepath.Join(folder, "real", "file"), path))
				}
				if aged {
					must(t, os.Chtimes(folder, time.Time{}, time.Now().Add(-time.Hour)))
				}
				p := &File{path: path}
				var err error
				p.opened, err = os.Stat(path)
				must(t, err)
				must(t, p.checkNames())
				must(t, p.checkNames())
				must(t, lose(folder, path))
				if err := p.checkNames(); !errors.Is(err, ErrMoved) {
					t.Errorf("it says: %v", err)
				}
			})
		}
	}
}
