package rows

// Tx is a transaction, with what tables need to read and write in it.
type Tx struct {
	Rows
	key     [48]byte // of a row that is read; a longer one stands elsewhere
	writing *Writing
}

// On makes the Tx of an engine's transaction. w is nil in one that only reads.
func (t *Tx) On(r Rows, w *Writing) { t.Rows, t.writing = r, w }

// Decorated is the Tx of a decorator of the engine's transaction, which writes as this one
// does.
func (t *Tx) Decorated(by func(Rows) Rows) *Tx { return &Tx{Rows: by(t.Rows), writing: t.writing} }

// Text is a key of one text, valid until the next one.
func (t *Tx) Text(s string) []byte { return append(t.key[:0], s...) }

// Pair is a key of two texts, valid until the next one.
func (t *Tx) Pair(first, second string) []byte { return Pair(t.key[:0], first, second) }

// Writing is what one transaction after the other uses to write, all of one goroutine.
type Writing struct {
	block   []byte // its free part gets what is written next
	row     Row
	codec   Codec
	scratch []any // records to read into, by the place of their kind
	again   []any // what FindAgain read last, by the place of its kind
}

// blockSize is how many bytes are taken at once for rows to be written. A value keeps its
// whole block in memory.
const blockSize = 8 << 10

// Reuse lets the memory of rows be used again: their commit has ended, and nobody keeps
// anything of them.
func (w *Writing) Reuse() { w.block = w.block[:0] }

// free returns where to append what is to be written.
func (w *Writing) free() []byte {
	if cap(w.block)-len(w.block) < blockSize/8 {
		w.block = make([]byte, 0, blockSize)
	}
	return w.block[len(w.block):]
}

// keep takes what was appended to free, and returns it. A value that has outgrown the block
// stands alone; the block is left, or each later one would outgrow it again.
func (w *Writing) keep(b []byte) []byte {
	if len(b) <= cap(w.block)-len(w.block) {
		w.block = w.block[:len(w.block)+len(b)]
	} else {
		w.block = nil
	}
	return b[:len(b):len(b)]
}

// encode writes a record, as its fields are coded.
func (w *Writing) encode(fields func(*Codec)) []byte {
	w.codec = Codec{buf: w.free()}
	fields(&w.codec)
	b := w.codec.buf
	w.codec.buf = nil
	return w.keep(b)
}

// write is the Writing; a transaction that only reads, and looks at entries, has its own.
func (t *Tx) write() *Writing {
	if t.writing == nil {
		t.writing = &Writing{}
	}
	return t.writing
}

// scratch is a record of a kind to read into, which is zero.
func scratch[T any](w *Writing, place int) *T {
	v := at[T](&w.scratch, place)
	*v = *new(T)
	return v
}

// at is what stands at the place of a kind, where it is made with its first use.
func at[T any](all *[]any, place int) *T {
	for len(*all) <= place {
		*all = append(*all, nil)
	}
	v, ok := (*all)[place].(*T)
	if !ok {
		v = new(T)
		(*all)[place] = v
	}
	return v
}

// readRecord is a record with what it was read from; without a value it is none.
type readRecord[T any] struct {
	key, value string
	record     T
}
