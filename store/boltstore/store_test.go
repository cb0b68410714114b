package boltstore_test

import (
	"os"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/seal"
	"teamdata/store/storetest"
)

// The engine keeps the store's contract, and leaves files in which Check finds
// nothing wrong. What is bbolt's own has its tests beside this one.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, opener(nil))
}

// So it does when it seals, and its index of keys has room for one.
func TestSealedStore(t *testing.T) {
	t.Parallel()
	key, err := seal.ReadKeyFile(kit.SealKey(t, t.TempDir()))
	kit.Must(t, err)
	storetest.Run(t, opener(key))
}

func opener(sealer boltstore.Sealer) storetest.Open {
	return func(t testing.TB, path string, now func() time.Time) store.Store {
		if _, err := os.Stat(path); err != nil { // the first time of some
			t.Cleanup(func() { check(t, path) }) // after the suite has closed the store
		}
		s, err := boltstore.Open(path, boltstore.Options{Now: now, NoSync: true, MapSize: 64 << 20, Sealer: sealer})
		kit.Must(t, err)
		if sealer != nil {
			boltstore.LimitKeys(s, 1)
		}
		return s
	}
}

func check(t testing.TB, path string) {
	if err := boltstore.Check(path, func(fault string) { t.Error(fault) }); err != nil {
		t.Error(err)
	}
}
