//go:build unix

package boltstore

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
)

// TestRestore puts a backup in the place of a file, of a damaged one, of an
// empty one, and of none; the old one is kept.
func TestRestore(t *testing.T) {
	old, backup := wholeFiles(t)
	from := writeCopy(t, backup)
	for name, before := range map[string][]byte{"sound": old, "damaged": []byte("torn"), "empty": {}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "teamdata.db")
			want := ""
			if before != nil {
				writeFile(t, path, before)
				want = path + ".before-restore-20261006T120000Z"
			}
			kept, err := Restore(bg, from, path, someTime)
			must(t, err)
			if kept != want {
				t.Errorf("kept as %q, not %q", kept, want)
			}
			if kept != "" && !bytes.Equal(readFile(t, kept), before) {
				t.Error("the kept file is not the old one")
			}
			sameContent(t, path, from)
			if kept != "" {
				alone(t, path, kept)
			}
		})
	}
}

// sameContent holds two sound files to the same content.
func sameContent(t *testing.T, path, other string) {
	t.Helper()
	wellKept(t, path)
	f, o := &fixture{TB: t, path: path}, &fixture{TB: t, path: other}
	f.open(Options{})
	defer f.close()
	o.open(Options{})
	defer o.close()
	if f.dump() != o.dump() {
		t.Errorf("%s and %s hold different things", path, other)
	}
}

// TestRestoreRefuses leaves the file as it was, and nothing beside it.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	old, backup := wholeFiles(t)
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	spoiled := writeCopy(t, backup)
	db, err := bbolt.Open(spoiled, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { return lose(tx.Bucket([]byte("members"))) }))
	must(t, db.Close())
	writeFile(t, at("torn"), torn(backup))
	writeFile(t, at("short"), backup[:3*os.Getpagesize()])
	writeFile(t, at("text"), []byte("no data"))
	writeFile(t, at("empty"), nil)
	writeBucket(t, at("foreign"), "widgets")
	writeSchema(t, at("newer"), schemaVersion()+1)
	for from, want := range map[string]string{
		at("missing"): "does not exist",
		at("torn"):    "is damaged",
		at("short"):   "is cut short",
		at("text"):    "is not a teamdata file",
		at("empty"):   "is empty",
		at("foreign"): "not one of teamdata",
		at("newer"):   "newer teamdata",
		at(".."):      "is a folder",
		spoiled:       "memberList: entries: ",
	} {
		path := writeCopy(t, old)
		if _, err := Restore(bg, from, path, someTime); err == nil {
			t.Errorf("%s was restored", from)
		} else {
			saysOneLine(t, err.Error(), from, want)
		}
		if !bytes.Equal(readFile(t, path), old) {
			t.Errorf("%s: the file has changed", from)
		}
		alone(t, path)
	}
	path := writeCopy(t, old)
	_, err = Restore(bg, path, path, someTime)
	if err == nil {
		t.Fatal("a file was restored from itself")
	}
	saysOneLine(t, err.Error(), "is the data file itself")
}

// torn is the content of a file without some of its pages.
func torn(content []byte) []byte {
	content, page := bytes.Clone(content), os.Getpagesize()
	clear(content[3*page : 10*page])
	return content
}

// TestReplaceInUse: a file that a server has open is left alone, and so is what
// happened to be kept under the name of this second.
func TestReplaceInUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, f.Backup(bg, backup))
	_, restored := Restore(bg, backup, f.path, someTime)
	_, _, compacted := Compact(bg, f.path, nil)
	rebuilt := Rebuild(bg, f.path, Options{}, func(*Store) error { panic("runs") })
	for name, err := range map[string]error{"restore": restored, "compact": compacted, "rebuild": rebuilt} {
		if err == nil {
			t.Fatalf("%s has replaced an open file", name)
		}
		wants := []string{f.path, "in use", "lock (flock)"}
		if runtime.GOOS == "linux" {
			wants = append(wants, "by process")
		}
		saysOneLine(t, err.Error(), wants...)
	}
	f.update(appendAudit("usr_1"))
	f.close()
	alone(t, f.path)

	must(t, os.Mkdir(f.path+".before-restore-20261006T120000Z", 0o700))
	before := readFile(t, f.path)
	if _, err := Restore(bg, backup, f.path, someTime); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("restored where nothing can be kept: %v", err)
	}
	if !bytes.Equal(readFile(t, f.path), before) {
		t.Error("the file has changed")
	}
}

// TestReplaceThroughLink: the link stays, and what it leads to is replaced.
func TestReplaceThroughLink(t *testing.T) {
	old, backup := wholeFiles(t)
	path, from := writeCopy(t, old), writeCopy(t, backup)
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	kept, err := Restore(bg, from, link, someTime)
	must(t, err)
	_, _, err = Compact(bg, link, nil)
	must(t, err)
	must(t, Rebuild(bg, link, Options{}, func(*Store) error { return nil }))
	if to, err := os.Readlink(link); to != path || err != nil {
		t.Errorf("the link leads to %s, %v", to, err)
	}
	sameContent(t, path, from)
	alone(t, path, kept)
	alone(t, link)
}

// TestRestoreOlderSchema: a backup that an older teamdata has made is migrated
// by the next start.
func TestRestoreOlderSchema(t *testing.T) {
	from, _ := oldFile(t)
	path := filepath.Join(t.TempDir(), "teamdata.db")
	_, err := Restore(bg, from.path, path, someTime)
	must(t, err)
	db, err := bbolt.Open(path, boltfile.Mode, nil)
	must(t, err)
	defer db.Close()
	if version, err := schemaOf(db); err != nil || version != 1 {
		t.Errorf("it has schema %d, %v", version, err)
	}
}
