package boltstore

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"teamdata/store"
)

const smallFile = 1 << 20 // a MaxSize for tests

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

func removeMember(user string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.DeleteMember(testOrg, user) }
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

// putBig writes as much as no store here has left when it is full.
func putBig(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.PutCertificate(name, make([]byte, 256<<10)) }
}

func TestMaxSize(t *testing.T) {
	f := newFixture(t, Options{MaxSize: smallFile, NoSync: true})
	users := f.fillUp()
	if len(users) < 500 {
		t.Errorf("full at %d members", len(users))
	}
	f.keepsWhatItHas(users)
	f.staysWithin(smallFile)

	for _, user := range users {
		f.update(removeMember(user))
	}
	f.update(putBig("big"))
	f.staysWithin(smallFile)
	f.close()
	wellKept(t, f.path)
}

func (f *fixture) staysWithin(size int64) {
	f.Helper()
	info, err := os.Stat(f.path)
	must(f, err)
	if info.Size() > size {
		f.Errorf("the file has %d bytes, more than %d", info.Size(), size)
	}
}

// TestMaxSizeDeletesGoOn while others write: a delete that shares its batch
// with writes that have no room passes all the same, or a store that is full
// and busy would never get room again.
func TestMaxSizeDeletesGoOn(t *testing.T) {
	f := newFixture(t, Options{MaxSize: smallFile, NoSync: true})
	users := f.fillUp()
	ran := 0
	errs := f.batch(
		putBig("a"),
		removeMember(users[0]),
		func(tx store.Tx) error { ran++; return errors.New("on purpose") },
		putBig("b"),
		removeMember(users[1]),
	)
	for i, err := range errs {
		wants := []store.Code{store.CodeUnavailable, "", store.CodeInternal, store.CodeUnavailable, ""}
		if store.CodeOf(err) != wants[i] {
			t.Errorf("%d: %v", i, err)
		}
	}
	if ran != 1 {
		t.Errorf("what had failed by itself ran %d times", ran)
	}
	f.keepsWhatItHas(users[2:])
}

// TestMaxSizeUnderLoad finds room again while writers never stop.
func TestMaxSizeUnderLoad(t *testing.T) {
	f := newFixture(t, Options{MaxSize: smallFile, NoSync: true})
	users := f.fillUp()
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := f.Update(bg, putBig(fmt.Sprint(w))); err != nil && store.CodeOf(err) != store.CodeUnavailable {
					t.Error(err)
				}
			}
		})
	}
	for _, user := range users[:100] {
		f.update(removeMember(user))
	}
	close(stop)
	writers.Wait()
	f.close()
	wellKept(t, f.path)
}
