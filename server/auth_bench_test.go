package server

import (
	"testing"

	"teamdata/wire/web"
)

// BenchmarkCheckKey is what finding a key that is known takes, with the note of
// its use.
func BenchmarkCheckKey(b *testing.B) {
	env := newTestEnv(b, Config{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		x := &request{Request: web.Request{HTTP: newRequest("GET", "/api/v1/members", "key_read")}, s: env.server, now: env.Now()}
		for pb.Next() {
			if err := x.checkKey(); err != nil {
				b.Error(err)
			}
		}
	})
}
