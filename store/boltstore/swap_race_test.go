//go:build unix

package boltstore

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// TestOpenWhileReplaced opens the file again and again while it is replaced
// again and again: nobody works on a file that has lost its place.
func TestOpenWhileReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{NoSync: true})
	f.close()
	var kept atomic.Int64
	append1 := func(s *Store) error {
		err := s.Update(bg, store.All, appendAudit("usr_1"))
		if err == nil {
			kept.Add(1)
		}
		return err
	}
	const rounds = 12
	var replaced atomic.Bool
	var opening sync.WaitGroup
	for range 2 {
		opening.Go(func() {
			for !replaced.Load() {
				s, err := Open(f.path, Options{NoSync: true})
				if errors.Is(err, boltfile.ErrInUse) {
					continue
				}
				if err == nil {
					err = errors.Join(append1(s), s.Close())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for done := 0; done < rounds; {
		switch err := Rebuild(bg, f.path, Options{}, append1); {
		case err == nil:
			done++
		case !errors.Is(err, boltfile.ErrInUse):
			t.Fatal(err)
		}
	}
	replaced.Store(true)
	opening.Wait()
	wellKept(t, f.path)
	f.open(Options{})
	f.countAudit(int(kept.Load()))
	if kept.Load() == rounds {
		t.Error("it was never opened meanwhile")
	}
}
