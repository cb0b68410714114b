package boltstore

import (
	"errors"
	"fmt"
	"testing"

	"teamdata/store"
)

var errUndo = errors.New("undo")

// BenchmarkSealed is what sealing adds, beside the same on a file in plain
// text: to a claim, to listing an org's endpoints, and to an event for them all,
// whose writes are undone.
func BenchmarkSealed(b *testing.B) {
	for _, endpoints := range []int{1, store.MaxEndpoints} {
		for _, kind := range []struct {
			name string
			o    Options
		}{{"plain", Options{NoSync: true}}, {"sealed", Options{NoSync: true, Sealer: newKey(b, "4f")}}} {
			f := newFixture(b, kind.o)
			f.update(func(tx store.Tx) (err error) {
				for i := range endpoints - 1 {
					_, e := store.ImportEndpoint(tx, store.Endpoint{
						ID: fmt.Sprint("whe_", i+2), OrgID: testOrg, URL: "https://receiver.example/hook", Events: []string{store.EventMemberAdded},
					})
					err = errors.Join(err, e)
				}
				return err
			})
			name := fmt.Sprintf("%d endpoints, %s", endpoints, kind.name)
			b.Run(name+"/claim", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f.Claim(bg, 1, f.Now(), 1); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/list", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f.view(func(tx store.Tx) error {
						_, err := tx.Endpoints(testOrg)
						return err
					})
				}
			})
			b.Run(name+"/emit", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					err := f.Update(bg, store.All, func(tx store.Tx) error {
						_, err := store.Emit(tx, testOrg, store.EventMemberAdded, []byte("{}"))
						return errors.Join(err, errUndo)
					})
					if !errors.Is(err, errUndo) {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
