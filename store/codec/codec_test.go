package codec

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"teamdata/store"
)

// TestLongRecords: a text is the same whether it is a part of a copy of the record or
// a copy of its own.
func TestLongRecords(t *testing.T) {
	for n := range 2 * maxWhole {
		want := store.Org{ID: "org_1", Name: strings.Repeat("n", n), Subscription: store.Subscription{Status: "active"}}
		if got, err := Decode(Encode(Org, want), Org); err != nil || got != want {
			t.Fatalf("with %d letters it is read as %+v, %v", n, got, err)
		}
	}
}

// TestLyingLengths: a length or a count is only believed as far as there is
// something behind it.
func TestLyingLengths(t *testing.T) {
	for _, n := range []uint64{8, 1 << 20, 1 << 40, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		lie := binary.AppendUvarint(nil, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for name, read := range map[string]func(*Codec, *struct{}){
			"text":     func(c *Codec, _ *struct{}) { c.text(new(string)) },
			"bytes":    func(c *Codec, _ *struct{}) { c.bytes(new([]byte)) },
			"hash":     func(c *Codec, _ *struct{}) { c.hash(new([32]byte)) },
			"texts":    func(c *Codec, _ *struct{}) { c.texts(new([]string)) },
			"pairs":    func(c *Codec, _ *struct{}) { c.pairs(new(map[string]string)) },
			"a record": func(c *Codec, _ *struct{}) { inner(c, Plan, new(store.Plan)) },
			"records": func(c *Codec, _ *struct{}) {
				list(c, new([]store.Attempt), func(c *Codec, a *store.Attempt) { inner(c, attemptFields, a) })
			},
		} {
			if _, err := Decode(append(lie, "abc"...), read); !errors.Is(err, ErrRecord) {
				t.Errorf("%s of length %d: %v", name, n, err)
			}
			if _, err := Decode(lie, read); !errors.Is(err, ErrRecord) {
				t.Errorf("%s of length %d with nothing behind: %v", name, n, err)
			}
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("a length of %d took %d bytes", n, used)
		}
	}
}
