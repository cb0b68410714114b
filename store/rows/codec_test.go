package rows

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
)

// TestLongRecords: a text is the same whether it is a part of a copy of the record or
// a copy of its own.
func TestLongRecords(t *testing.T) {
	for n := range 2 * maxWhole {
		want := plan{"one", strings.Repeat("n", n), "last", n}
		if got, err := Decode(Encode(planFields, want), planFields); err != nil || got != want {
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
			"text":     func(c *Codec, _ *struct{}) { c.Text(new(string)) },
			"bytes":    func(c *Codec, _ *struct{}) { c.Bytes(new([]byte)) },
			"hash":     func(c *Codec, _ *struct{}) { c.Hash(new([32]byte)) },
			"texts":    func(c *Codec, _ *struct{}) { c.Texts(new([]string)) },
			"pairs":    func(c *Codec, _ *struct{}) { c.Pairs(new(map[string]string)) },
			"a record": func(c *Codec, _ *struct{}) { Inner(c, planFields, new(plan)) },
			"records": func(c *Codec, _ *struct{}) {
				List(c, new([]plan), func(c *Codec, p *plan) { Inner(c, planFields, p) })
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

type plan struct {
	id, name, status string
	size             int
}

func planFields(c *Codec, p *plan) {
	c.Text(&p.id)
	c.Text(&p.name)
	c.Text(&p.status)
	c.Int(&p.size)
}
