package boltstore

import (
	"errors"
	"testing"
	"time"

	"teamdata/store"
)

// addFinished adds deliveries that are finished, each with its event.
func (f *fixture) addFinished(n int) {
	f.Helper()
	const batch = 1000
	for left := n; left > 0; left -= batch {
		f.update(func(tx store.Tx) (err error) {
			for range min(left, batch) {
				d, errSend := store.SendTest(tx, testOrg, "whe_1")
				err = errors.Join(err, errSend, acknowledge(tx, d.ID))
			}
			return err
		})
	}
}

// sweep drops what is finished, and returns how much.
func (f *fixture) sweep() (dropped int) {
	f.Helper()
	must(f, store.Sweep(bg, f, store.Retention{Finished: -time.Hour, Held: time.Hour, Dropped: func(_ string, n int) { dropped += n }}))
	return dropped
}

// TestFileIsBounded fills and sweeps ten times: from the second time on the file
// grows no more, for what is dropped leaves room.
func TestFileIsBounded(t *testing.T) {
	const n = 600
	f := newFixture(t, Options{NoSync: true})
	second := 0
	for cycle := range 10 {
		f.addFinished(n)
		f.says("dropped", f.sweep(), "600")
		if cycle == 1 {
			second = f.used()
		}
	}
	if last := f.used(); last > second+second/20 {
		t.Errorf("the file grew from %d bytes after two cycles to %d after ten", second, last)
	}
	f.close()
	wellKept(t, f.path)
}

// TestSweepOfNothing: as long as nothing is due a sweep commits nothing.
func TestSweepOfNothing(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.addFinished(100)
	f.says("dropped", f.sweep(), "100")
	f.sendTests(3)
	before := f.commits()
	f.says("dropped", f.sweep(), "0")
	f.says("commits", f.commits()-before, "0")
}
