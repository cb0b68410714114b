package boltstore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

func TestAfterClose(t *testing.T) {
	f := newFixture(t, Options{})
	f.close()
	for name, err := range map[string]error{
		"Update":  f.Update(bg, store.All, func(store.Tx) error { panic("runs") }),
		"View":    f.View(bg, func(store.Tx) error { panic("runs") }),
		"EachDue": f.EachDue(bg, func(uint64, time.Time) { panic("runs") }),
		"Claim":   func() error { _, err := f.Claim(bg, 1, time.Now(), 1); return err }(),
	} {
		if store.CodeOf(err) != store.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// TestCloseAmidUpdates: whatever Close cuts into, each Update either committed
// or was refused, and none hangs.
func TestCloseAmidUpdates(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	var committed atomic.Int64
	var done sync.WaitGroup
	for w := range 16 {
		done.Go(func() {
			for i := 0; ; i++ {
				err := f.Update(bg, store.All, appendAudit(fmt.Sprintf("usr_%d_%d", w, i)))
				if store.CodeOf(err) == store.CodeUnavailable {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				committed.Add(1)
			}
		})
	}
	until(t, "some have committed", func() bool { return committed.Load() > 100 })
	f.close()
	done.Wait()
	wellKept(t, f.path)
	f.open(Options{})
	f.countAudit(int(committed.Load()))
}

// TestCloseAmidViews: Close commits the list of free pages, and no View waits for that
// commit: Close would wait for the View in turn.
func TestCloseAmidViews(t *testing.T) {
	f := newFixture(t, Options{})
	for range 10 {
		var done sync.WaitGroup
		viewing := make(chan struct{}, 4)
		for range cap(viewing) {
			done.Go(func() {
				for err := error(nil); store.CodeOf(err) != store.CodeUnavailable; {
					if err = f.View(bg, func(store.Tx) error { return nil }); err == nil {
						select {
						case viewing <- struct{}{}:
						default:
						}
					}
				}
			})
		}
		for range cap(viewing) {
			<-viewing
		}
		f.update(appendAudit("usr_1")) // so that the list is to be written
		f.close()
		done.Wait()
		f.open(Options{})
	}
}

func (f *fixture) countAudit(want int) {
	f.Helper()
	f.view(func(tx store.Tx) error {
		page, err := tx.AuditPage(testOrg, store.Cursor{}, 1<<20, nil)
		if page.Count != want {
			f.Errorf("%d audit entries, want %d", page.Count, want)
		}
		return err
	})
}
