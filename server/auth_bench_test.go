package server

import "testing"

// BenchmarkCheckKey is what finding a key that is known takes, with the note of
// its use.
func BenchmarkCheckKey(b *testing.B) {
	w := newWorld(b, Config{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		x := &exchange{s: w.server, r: request("GET", "/api/v1/members", "key_read"), now: w.clock.Now()}
		for pb.Next() {
			if err := x.checkKey(); err != nil {
				b.Error(err)
			}
		}
	})
}
