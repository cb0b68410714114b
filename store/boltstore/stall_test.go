package boltstore

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// TestReaderDoesNotStallCommits holds a View open while commits complete, and
// grows the file past what it was when the View began. A stall would be for
// ever: the View waits for the commits.
func TestReaderDoesNotStallCommits(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.update(putBig("before"))
	info, err := os.Stat(f.path)
	must(t, err)
	const n = 200
	f.view(func(old store.Tx) error {
		before := f.commits()
		for i := range n {
			f.update(putBig(fmt.Sprint(i % 100)))
		}
		if made := f.commits() - before; made != n {
			t.Errorf("%d commits", made)
		}
		if _, err := old.Certificate("0"); !store.IsNotFound(err) {
			t.Errorf("the View sees what was committed after it began: %v", err)
		}
		pem, err := old.Certificate("before")
		if len(pem) != 256<<10 {
			t.Errorf("the View lost %d bytes of what it sees", 256<<10-len(pem))
		}
		return err
	})
	grown, err := os.Stat(f.path)
	must(t, err)
	if grown.Size() < info.Size()+16<<20 {
		t.Errorf("the file grew from %d to %d only", info.Size(), grown.Size())
	}
	f.close()
	wellKept(t, f.path)
}

// TestGrowsPastItsMap: where the address space that is reserved is used up, the
// file is mapped again, between Views, and what was read stays whole.
func TestGrowsPastItsMap(t *testing.T) {
	f := newFixture(t, Options{MapSize: 64 << 10, NoSync: true})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				f.view(func(tx store.Tx) error {
					org, err := tx.Org(testOrg)
					if org.Name != "Test" {
						t.Errorf("read %q", org.Name)
					}
					return err
				})
			}
		})
	}
	updates := 60
	if kit.AtSize() {
		updates = 200
	}
	for i := range updates {
		f.update(putBig(fmt.Sprint(i % 50)))
	}
	close(stop)
	readers.Wait()
	f.close()
	wellKept(t, f.path)
	f.open(Options{MapSize: 64 << 10}) // less than the file has
	f.update(appendAudit("usr_1"))
}

// TestUndoAcrossAMap: an undo holds slices of the map, and a batch may remap.
func TestUndoAcrossAMap(t *testing.T) {
	f := newFixture(t, Options{MapSize: 64 << 10, NoSync: true})
	f.update(func(tx store.Tx) error { return tx.PutCertificate("kept", []byte("kept")) })
	for i := range 100 {
		f.batch(
			putBig(fmt.Sprint(i)),
			func(tx store.Tx) error {
				return errors.Join(tx.PutCertificate("kept", []byte("lost")), errors.New("on purpose"))
			},
			putBig(fmt.Sprint("more", i)),
		)
		f.view(func(tx store.Tx) error {
			if pem, err := tx.Certificate("kept"); string(pem) != "kept" {
				t.Fatalf("%q, %v", pem, err)
			}
			return nil
		})
	}
}
