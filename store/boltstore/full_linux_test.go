package boltstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"teamdata/store"
)

// newDisk mounts a disk of some bytes in memory.
func newDisk(t *testing.T, size int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprint("size=", size))
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("can't mount a small disk, and in CI this test must run: %v", err)
	case err != nil:
		t.Skipf("a full disk is not tested: mounting a small one takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// leaveFree fills a disk of some bytes but for those to leave free.
func leaveFree(t *testing.T, folder string, size, free int) (ballast string) {
	t.Helper()
	ballast = filepath.Join(folder, "ballast")
	writeFile(t, ballast, make([]byte, size-free))
	return ballast
}

func TestFullDisk(t *testing.T) {
	const size = 4 << 20
	folder := newDisk(t, size)
	ballast := leaveFree(t, folder, size, size/2)
	f := &fixture{TB: t, path: filepath.Join(folder, "teamdata.db")}
	f.open(Options{})
	t.Cleanup(func() { f.Store.Close() }) // before the disk is unmounted
	f.fill()
	users := f.fillUp()
	if len(users) < 500 {
		t.Errorf("full at %d members", len(users))
	}
	f.keepsWhatItHas(users)
	f.close()
	f.open(Options{}) // a full disk is no reason not to serve readers
	f.keepsWhatItHas(users)

	must(t, os.Remove(ballast))
	f.update(putBig("big"))
	f.update(appendAudit("usr_1"))
	f.view(func(tx store.Tx) error {
		_, err := tx.Member(testOrg, users[len(users)-1])
		return err
	})
	f.close()
	wellKept(t, f.path)
}

// TestNewFileOnAFullDisk: there is either a whole new file or none, however
// much room there is for it.
func TestNewFileOnAFullDisk(t *testing.T) {
	const size = 256 << 10
	page := os.Getpagesize()
	made := 0
	for _, existing := range []bool{false, true} {
		for pages := range 20 {
			folder := newDisk(t, size)
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
		err := f.Update(bg, func(tx store.Tx) error {
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
		if err := f.Update(bg, putBig("big")); store.CodeOf(err) != store.CodeUnavailable {
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
