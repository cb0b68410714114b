package boltstore

import (
	"fmt"
	"testing"

	"teamdata/store"
	"teamdata/store/engine"
)

// BenchmarkAccept is what an event costs the writer, by itself and with others in
// one commit, without the disk's sync.
func BenchmarkAccept(b *testing.B) {
	for _, shared := range []int{1, 32} {
		b.Run(fmt.Sprint(shared), func(b *testing.B) {
			f := newFixture(b, Options{NoSync: true})
			accept := func(tx store.Tx) error {
				_, err := store.SendTest(tx, testOrg, "whe_1")
				return err
			}
			batch := make([]*engine.Update, shared)
			for i := range batch {
				batch[i] = &engine.Update{Ctx: bg, Fn: accept}
			}
			b.ReportAllocs()
			for n := 0; n < b.N; n += shared {
				f.commit(batch)
				must(b, batch[0].Err)
			}
		})
	}
}
