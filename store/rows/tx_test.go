package rows

import (
	"bytes"
	"testing"
)

// TestBlock: what is kept stays as it is while more is kept, whether it fits into its block
// or not, and shares it with what came before as long as there is room.
func TestBlock(t *testing.T) {
	var w Writing
	var kept, want [][]byte
	for i, size := range []int{10, 0, 100, 2 * blockSize, 20, blockSize - 100, 30, blockSize, blockSize / 8, 1, blockSize, blockSize + 1, 7} {
		value := bytes.Repeat([]byte{byte('a' + i)}, size)
		b := w.keep(append(w.free(), value...))
		kept, want = append(kept, b), append(want, value)
		if _ = append(b, "behind"...); b == nil || cap(b) != len(b) {
			t.Errorf("%d: whoever appends to %d bytes writes into what comes next", i, size)
		}
	}
	for i := range kept {
		if !bytes.Equal(kept[i], want[i]) {
			t.Errorf("%d: %d bytes have changed", i, len(want[i]))
		}
	}
}

// TestBlocksAreTakenSeldom: small values share a block, and one that has outgrown its own
// is not followed by others that do.
func TestBlocksAreTakenSeldom(t *testing.T) {
	var w Writing
	value := make([]byte, 100)
	small := func() {
		for range 500 {
			w.keep(append(w.free(), value...))
		}
	}
	if n := testing.AllocsPerRun(10, small); n > 500*100/(blockSize*7/8)+2 {
		t.Errorf("%v blocks are taken for 500 values", n)
	}
	large := testing.AllocsPerRun(10, func() { // each third one outgrows a block
		for range 300 {
			w.keep(append(w.free(), make([]byte, 3000)...))
		}
	})
	if large > 2*300/3+2 {
		t.Errorf("%v blocks are taken for 300 values that are large", large)
	}
	all := testing.AllocsPerRun(10, func() {
		for range 50 {
			w.keep(append(w.free(), value...))
		}
		w.Reuse()
	})
	if all > 0 {
		t.Errorf("%v blocks are taken though one may be used again", all)
	}
}

// TestReuse: only then is the memory of what was kept written into.
func TestReuse(t *testing.T) {
	var w Writing
	first := w.keep(append(w.free(), "first"...))
	w.keep(append(w.free(), "second"...))
	if string(first) != "first" {
		t.Errorf("the first has become %q", first)
	}
	w.Reuse()
	if w.keep(append(w.free(), "third"...)); string(first) != "third" {
		t.Errorf("the first's memory is not used again: %q", first)
	}
}

// TestText: a key is the text, however long.
func TestText(t *testing.T) {
	var tx Tx
	for _, text := range []string{"", "a", string(make([]byte, 64)), string(make([]byte, 65))} {
		if got := tx.Text(text); string(got) != text {
			t.Errorf("%q has become %q", text, got)
		}
	}
}
