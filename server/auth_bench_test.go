package server

import (
	"testing"

	"teamdata/internal/web"
)

// BenchmarkCheckKey is what finding a key that is known takes, with the note of
// its use.
func BenchmarkCheckKey(b *testing.B) {
	w := newWorld(b, Config{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		x := &request{Request: web.Request{HTTP: newRequest("GET", "/api/v1/members", "key_read")}, s: w.server, now: w.clock.Now()}
		for pb.Next() {
			if err := x.checkKey(); err != nil {
				b.Error(err)
			}
		}
	})
}
