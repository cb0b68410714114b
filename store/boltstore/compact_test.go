//go:build unix

package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// TestCompact: what was deleted takes no room any more, and the rest is as it
// was, down to the numbers that were given out.
func TestCompact(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	for i := range 100 {
		f.update(putBig(fmt.Sprint(i)))
	}
	f.update(func(tx store.Tx) error { return tx.PutCertificate("small", []byte("pem")) })
	f.sendTests(20)
	f.close()
	db, err := bbolt.Open(f.path, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		certificates := tx.Bucket([]byte("certificates"))
		for i := range 100 {
			if err := certificates.Delete([]byte(fmt.Sprint(i))); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, db.Close())
	original := writeCopy(t, readFile(t, f.path))

	before, after, err := Compact(bg, f.path, func(done, total int64) {
		if done < 0 || done > total || total <= 0 {
			t.Errorf("%d bytes of %d are written", done, total)
		}
	})
	must(t, err)
	if size := sizeAt(t, f.path); before != sizeAt(t, original) || after != size || after > 1<<20 || before < 25<<20 {
		t.Errorf("from %d to %d bytes; the files have %d and %d", before, after, sizeAt(t, original), size)
	}
	alone(t, f.path)
	sameContent(t, f.path, original)
	again, content := sizeAt(t, f.path), readFile(t, f.path)
	before, after, err = Compact(bg, f.path, nil)
	if must(t, err); before != again || after > again || after == again && !bytes.Equal(readFile(t, f.path), content) {
		t.Errorf("a second time: from %d to %d bytes", before, after)
	}
	f.open(Options{})
	f.update(func(tx store.Tx) error {
		e, err := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_2", OrgID: testOrg, URL: "https://receiver.example/2", Events: []string{store.EventMemberAdded}})
		if e.Number != 2 {
			t.Errorf("the next endpoint has the number %d", e.Number)
		}
		return err
	})
	f.close()
}

// TestCompactStops: a done context leaves the old file.
func TestCompactStops(t *testing.T) {
	f := newWhole(t)
	before := readFile(t, f.path)
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, _, err := Compact(ctx, f.path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if !bytes.Equal(readFile(t, f.path), before) {
		t.Error("the file has changed")
	}
	alone(t, f.path)
}

// TestCompactDamaged loses each page in turn. Whatever is compacted then is
// sound, and what is refused is as it was.
func TestCompactDamaged(t *testing.T) { eachWellFilled(t, testCompactDamaged) }

func testCompactDamaged(t *testing.T, content []byte, used, pageSize int) {
	content = content[:used]
	path := writeCopy(t, content)
	refused := 0
	for page := 2; page < used/pageSize; page++ {
		damaged := bytes.Clone(content)
		clear(damaged[page*pageSize:][:pageSize])
		writeFile(t, path, damaged)
		if _, _, err := Compact(bg, path, nil); err == nil {
			wellKept(t, path)
			continue
		} else {
			saysOneLine(t, err.Error(), path, "damaged")
		}
		if refused++; !bytes.Equal(readFile(t, path), damaged) {
			t.Fatal("the file has changed")
		}
	}
	if refused == 0 {
		t.Error("no loss was noticed")
	}
	alone(t, path)
}

// TestStaleTemps: what killed runs have left goes with the next run of the same
// purpose; what is another's, or in use, stays.
func TestStaleTemps(t *testing.T) {
	f := newWhole(t)
	at := func(name string) string { return f.path[:len(f.path)-len("teamdata.db")] + name }
	stays := []string{".teamdata.db.rebuild-7", ".teamdata.db.compact-mine", ".other.db.compact-7", "teamdata.db.compact-7"}
	inUse := ".teamdata.db.compact-8"
	for _, name := range append(stays, inUse, ".teamdata.db.compact-7") {
		writeFile(t, at(name), []byte("x"))
	}
	file, err := os.Open(at(inUse))
	must(t, err)
	defer file.Close()
	must(t, syscall.Flock(int(file.Fd()), syscall.LOCK_SH))
	_, _, err = Compact(bg, f.path, nil)
	must(t, err)
	alone(t, f.path, append(stays, inUse)...)
}
