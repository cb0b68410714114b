package boltstore

import (
	"errors"
	"testing"

	"teamdata/store"
)

// TestEndpointIsAsItIsNow: the writer keeps the endpoint that it read last, and must
// never return what has been changed or deleted since, or another org's.
func TestEndpointIsAsItIsNow(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	read := func(tx store.Tx, want string) {
		t.Helper()
		e, err := tx.Endpoint(testOrg, "whe_1")
		f.says("the endpoint", []any{e.Description, store.IsNotFound(err)}, want)
		_, err = tx.Endpoint("org_other", "whe_1")
		f.says("another org's", store.IsNotFound(err), "true")
	}
	describe := func(tx store.Tx, text string) {
		e, err := tx.Endpoint(testOrg, "whe_1")
		e.Description = text
		f.says("a change", errors.Join(err, tx.PutEndpoint(e)), "<nil>")
		read(tx, "["+text+" false]")
	}
	undone := errors.New("undone")
	fails := func(fn func(store.Tx)) {
		err := f.Update(bg, store.All, func(tx store.Tx) error { fn(tx); return undone })
		f.says("an update", err, "undone")
	}
	remove := func(tx store.Tx) {
		e, err := tx.Endpoint(testOrg, "whe_1")
		f.says("a removal", errors.Join(err, tx.DeleteEndpoint(e)), "<nil>")
		read(tx, "[ true]")
	}
	f.update(func(tx store.Tx) error { describe(tx, "old"); return nil })
	fails(func(tx store.Tx) { describe(tx, "new") })
	f.update(func(tx store.Tx) error { read(tx, "[old false]"); return nil })
	fails(remove)
	f.update(func(tx store.Tx) error { read(tx, "[old false]"); describe(tx, "new"); return nil })
	f.update(func(tx store.Tx) error { read(tx, "[new false]"); remove(tx); return nil })
	f.update(func(tx store.Tx) error { read(tx, "[ true]"); return nil })
}
