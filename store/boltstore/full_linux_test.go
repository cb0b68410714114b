package boltstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// leaveFree fills a disk of some bytes but for those to leave free.
func leaveFree(t *testing.T, folder string, size, free int) (ballast string) {
	t.Helper()
	ballast = filepath.Join(folder, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, size-free), 0o600))
	return ballast
}

func TestFullDisk(t *testing.T) {
	const size = 4 << 20
	folder := kit.SmallDisk(t, fmt.Sprint(size))
	ballast := leaveFree(t, folder, size, size/2)
	f := &fixture{TB: t, path: filepath.Join(folder, "teamdata.db")}
	f.open(Options{})
	t.Cleanup(func() { f.Store.Close() }) // before the disk is unmounted
	f.fill()
	f.serveOnFullDisk(ballast)
}

// TestFullDiskAfterACrash: in a file that was not closed, with many free pages, the list of
// them has room, and so have writes until they are used up.
func TestFullDiskAfterACrash(t *testing.T) {
	t.Parallel()
	open := newFixture(t, Options{NoSync: true})
	open.deleteEvents(1000)
	content := readFile(t, open.path)[:open.used()]
	size := len(content) + 1<<20
	folder := kit.SmallDisk(t, fmt.Sprint(size))
	f := &fixture{TB: t, path: filepath.Join(folder, "teamdata.db")}
	must(t, os.WriteFile(f.path, content, boltfile.Mode)) // without a hole
	ballast := leaveFree(t, folder, size, len(content))
	f.checkListed(false)
	f.open(Options{})
	t.Cleanup(func() { f.Store.Close() })
	f.serveOnFullDisk(ballast)
}

// TestDiskFillsUp: when others fill the disk within a second, commits fail for want of
// room, and the list of free pages is written, as the next failures need it.
func TestDiskFillsUp(t *testing.T) {
	const size = 96 << 20
	folder := kit.SmallDisk(t, fmt.Sprint(size))
	f := &fixture{TB: t, path: filepath.Join(folder, "teamdata.db")}
	f.open(Options{})
	t.Cleanup(func() { f.Store.Close() })
	f.fill()
	f.update(appendAudit("usr_1"))
	ballast := leaveFree(t, folder, size, f.used()+64<<10)
	f.checkListed(false)
	for range 3 {
		if err := f.Update(bg, store.All, putBig("big")); store.CodeOf(err) != store.CodeUnavailable {
			t.Fatalf("a write that has no room: %v", err)
		}
	}
	f.checkListed(true)
	f.view(func(store.Tx) error { return nil }) // sees the commit of the list
	must(t, os.Remove(ballast))
	f.update(putBig("big"))
	f.close()
	wellKept(t, f.path)
}

// checkListed checks whether the last commit of the open file wrote the list of free pages.
func (f *fixture) checkListed(want bool) {
	f.Helper()
	copied := filepath.Join(f.TempDir(), "copy.db")
	writeFile(f, copied, readFile(f, f.path))
	if listed, err := boltfile.CompareFree(copied); err != nil || listed != want {
		f.Errorf("there is a list: %v, want %v; %v", listed, want, err)
	}
}

// serveOnFullDisk fills up the store, whose disk has room again without the ballast.
func (f *fixture) serveOnFullDisk(ballast string) {
	f.Helper()
	users := f.fillUp()
	if len(users) < 500 {
		f.Errorf("full at %d members", len(users))
	}
	if err := f.Probe(bg); !boltfile.IsFull(err) || f.Failing() == nil {
		f.Errorf("while no member can be added, a probe ends with %v, and failing is %v", err, f.Failing())
	}
	f.keepsWhatItHas(users)
	f.close()
	if listed, err := boltfile.CompareFree(f.path); err != nil || !listed {
		f.Errorf("closed on a full disk, it has a list: %v, %v", listed, err)
	}
	f.open(Options{}) // a full disk is no reason not to serve readers
	f.keepsWhatItHas(users)

	must(f, os.Remove(ballast))
	f.update(putBig("big"))
	f.update(appendAudit("usr_1"))
	f.view(func(tx store.Tx) error {
		_, err := tx.Member(testOrg, users[len(users)-1])
		return err
	})
	f.close()
	wellKept(f, f.path)
}

// TestNewFileOnAFullDisk: there is either a whole new file or none, however
// much room there is for it.
func TestNewFileOnAFullDisk(t *testing.T) {
	const size = 256 << 10
	page := os.Getpagesize()
	made := 0
	for _, existing := range []bool{false, true} {
		for pages := range 20 {
			folder := kit.SmallDisk(t, fmt.Sprint(size))
			leaveFree(t, folder, size, pages*page)
			path := filepath.Join(folder, "teamdata.db")
			if existing {
				writeFile(t, path, nil)
			}
			s, err := Open(path, Options{})
			if err == nil {
				made++
				must(t, s.Close())
				wellKept(t, path)
				continue
			}
			saysOneLine(t, err.Error(), path, "the disk is full")
			info, err := os.Stat(path)
			if existing && (err != nil || info.Size() != 0) || !existing && !os.IsNotExist(err) {
				t.Errorf("with room for %d pages there is left %v, %v", pages, info, err)
			}
		}
	}
	if made == 0 {
		t.Error("there was never enough room")
	}
}

// fillUp adds members until the store refuses, and returns their users.
func (f *fixture) fillUp() (users []string) {
	f.Helper()
	for i := 0; ; i++ {
		user := fmt.Sprintf("usr_%06d", i)
		err := f.Update(bg, store.All, func(tx store.Tx) error {
			_, err := store.ImportMember(tx, store.Member{OrgID: testOrg, UserID: user, Role: store.RoleMember, Name: strings.Repeat("n", 200)})
			return err
		})
		if store.CodeOf(err) == store.CodeUnavailable {
			return users
		}
		must(f, err)
		users = append(users, user)
	}
}

// keepsWhatItHas holds a full store to reading, to refusing, and to nothing
// half done.
func (f *fixture) keepsWhatItHas(users []string) {
	f.Helper()
	before := f.dump()
	for range 20 {
		if err := f.Update(bg, store.All, putBig("big")); store.CodeOf(err) != store.CodeUnavailable {
			f.Fatalf("a write that has no room: %v", err)
		}
	}
	if f.dump() != before {
		f.Error("a refused write left something")
	}
	f.view(func(tx store.Tx) error {
		for _, user := range users {
			if _, err := tx.Member(testOrg, user); err != nil {
				return err
			}
		}
		return nil
	})
}
