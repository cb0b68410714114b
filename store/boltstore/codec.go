package boltstore

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"

	"teamdata/internal/hint"
)

// codec writes or reads the fields of a record in the order given by the record's
// fields function. One function serves both directions, so that they can't
// disagree. A record grows at its end: reading an older record leaves the fields
// it lacks at zero.
type codec struct {
	buf      []byte
	whole    string // the record that is read, if its texts are to be parts of it
	size     int    // capacity of that record, by which a part of it is found
	reading  bool
	skipping bool // skip texts: only numbers and times are needed
	broken   bool
}

var errRecord = hint.New("a record in the data file is damaged", "put back a backup")

// coded is a record with its codec: both escape to the table's function, and
// together they take one allocation.
type coded[T any] struct {
	codec
	record T
}

func encode[T any](fields func(*codec, *T), record T) []byte {
	c := &coded[T]{codec{buf: make([]byte, 0, 160)}, record}
	fields(&c.codec, &c.record)
	return c.buf
}

// maxWhole is the size in bytes up to which the texts of a record share one copy of
// it. A larger one would stay in memory as long as any of them.
const maxWhole = 1 << 10

func decode[T any](record []byte, fields func(*codec, *T)) (T, error) {
	c := &coded[T]{codec: codec{buf: record, reading: true}}
	if len(record) <= maxWhole {
		c.whole, c.size = string(record), cap(record)
	}
	fields(&c.codec, &c.record)
	if c.broken || len(c.buf) > 0 {
		return c.record, errRecord
	}
	return c.record, nil
}

func (c *codec) number(n *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *n)
		return
	}
	if len(c.buf) == 0 {
		*n = 0
		return
	}
	v, size := binary.Uvarint(c.buf)
	if size <= 0 {
		c.broken, c.buf = true, nil
		return
	}
	*n, c.buf = v, c.buf[size:]
}

// next reads a length and that many bytes, without copying them.
func (c *codec) next() []byte {
	var n uint64
	if c.number(&n); n > uint64(len(c.buf)) {
		c.broken, c.buf = true, nil
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

func (c *codec) text(s *string) {
	if c.reading {
		if b := c.next(); !c.skipping {
			*s = c.string(b)
		}
		return
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(len(*s)))
	c.buf = append(c.buf, *s...)
}

// string returns a part of the record as text.
func (c *codec) string(b []byte) string {
	if c.whole == "" || len(b) == 0 {
		return string(b)
	}
	at := c.size - cap(b)
	return c.whole[at : at+len(b)]
}

// bytes reads a copy: the file's bytes are only valid inside a transaction.
func (c *codec) bytes(b *[]byte) {
	if c.reading {
		*b = append([]byte(nil), c.next()...)
		return
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(len(*b)))
	c.buf = append(c.buf, *b...)
}

func (c *codec) hash(h *[32]byte) {
	b := h[:]
	if c.bytes(&b); c.reading {
		copy(h[:], b)
	}
}

// time stores milliseconds plus one; zero is the zero time.
func (c *codec) time(t *time.Time) {
	var n uint64
	if !c.reading && !t.IsZero() {
		n = uint64(t.UnixMilli()) + 1
	}
	if c.number(&n); !c.reading {
		return
	}
	if *t = (time.Time{}); n > 0 {
		*t = time.UnixMilli(int64(n - 1)).UTC()
	}
}

func (c *codec) int(i *int) {
	n := uint64(*i)
	c.number(&n)
	*i = int(n)
}

func (c *codec) flag(b *bool) {
	var n uint64
	if *b {
		n = 1
	}
	c.number(&n)
	*b = n == 1
}

// maxMicroseconds is the longest duration, some 292 years.
const maxMicroseconds = uint64(math.MaxInt64 / time.Microsecond)

// after stores a time as microseconds since an earlier one.
func (c *codec) after(from time.Time, t *time.Time) {
	n := uint64(max(t.Sub(from).Microseconds(), 0))
	if c.number(&n); !c.reading {
		return
	}
	if n > maxMicroseconds {
		c.broken, n = true, 0
	}
	*t = from.Add(time.Duration(n) * time.Microsecond)
}

// inner stores the fields of a nested value, preceded by their length, so that
// they can grow at their end as well.
func inner[T any](c *codec, fields func(*codec, *T), item *T) {
	if !c.reading {
		start := len(c.buf)
		fields(c, item)
		length := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), uint64(len(c.buf)-start))
		c.buf = slices.Insert(c.buf, start, length...)
		return
	}
	part, rest := c.next(), c.buf
	c.buf = part
	if fields(c, item); c.broken || len(c.buf) > 0 {
		c.broken, rest = true, nil
	}
	c.buf = rest
}

// list stores the number of items, then each item.
func list[T any](c *codec, items *[]T, each func(*codec, *T)) {
	n := uint64(len(*items))
	if c.number(&n); c.reading {
		if *items = nil; n > uint64(len(c.buf)) { // each takes at least a byte
			c.broken, n = true, 0
		}
		if n > 0 {
			*items = make([]T, n)
		}
	}
	for i := range *items {
		if c.reading && len(c.buf) == 0 {
			c.broken = true
		}
		each(c, &(*items)[i])
	}
}

func (c *codec) texts(texts *[]string) { list(c, texts, (*codec).text) }

// pairs stores names with their values, in order of name.
func (c *codec) pairs(pairs *map[string]string) {
	type pair struct{ name, value string }
	var all []pair
	for _, name := range slices.Sorted(maps.Keys(*pairs)) {
		all = append(all, pair{name, (*pairs)[name]})
	}
	fields := func(c *codec, p *pair) {
		c.text(&p.name)
		c.text(&p.value)
	}
	list(c, &all, func(c *codec, p *pair) { inner(c, fields, p) })
	if !c.reading || len(all) == 0 {
		return
	}
	*pairs = make(map[string]string, len(all))
	for _, p := range all {
		(*pairs)[p.name] = p.value
	}
}

// small stores an enumeration or a set of bits.
func small[T ~uint8](c *codec, v *T) {
	n := uint64(*v)
	c.number(&n)
	*v = T(n)
}
