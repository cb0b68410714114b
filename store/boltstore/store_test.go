package boltstore_test

import (
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// The engine keeps the store's contract. What is bbolt's own has its tests
// beside this one.
func TestStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB, path string, now func() time.Time) store.Store {
		s, err := boltstore.Open(path, boltstore.Options{Now: now, NoSync: true, MapSize: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
