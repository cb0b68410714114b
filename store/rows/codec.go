package rows

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"
)

// Codec writes or reads the fields of a record in the order given by the record's
// fields function. One function serves both directions, so that they can't
// disagree. A record grows at its end: reading an older record leaves the fields
// it lacks at zero.
type Codec struct {
	buf      []byte
	record   []byte // that is read; nil: its texts are copied one by one
	whole    string // a copy of it that its texts are parts of, once it has one
	reading  bool
	skipping bool // skip texts: only numbers and times are needed
	broken   bool
}

// ErrRecord is the error about a record that can't be read.
var ErrRecord error = recordError{}

type recordError struct{}

func (recordError) Error() string { return "a record in the data file is damaged; restore a backup" }
func (recordError) Hint() string  { return "restore a backup" }

// coded is a record with its Codec: both escape to the table's function, and
// together they take one allocation.
type coded[T any] struct {
	Codec
	record T
}

// Encode returns a record as its fields function codes it.
func Encode[T any](fields func(*Codec, *T), record T) []byte {
	c := &coded[T]{Codec{buf: make([]byte, 0, 160)}, record}
	fields(&c.Codec, &c.record)
	return c.buf
}

// maxWhole is the size in bytes up to which the texts of a record share one copy of
// it. A larger one would stay in memory as long as any of them.
const maxWhole = 1 << 10

// Decode is the reverse of Encode. The result shares no memory with the record.
// ErrRecord: it is damaged.
func Decode[T any](record []byte, fields func(*Codec, *T)) (T, error) {
	v, err := decode(record, fields)
	return *v, err
}

// decode is Decode without a copy of what it made.
func decode[T any](record []byte, fields func(*Codec, *T)) (*T, error) {
	c := &coded[T]{Codec: Codec{buf: record, record: record, reading: true}}
	fields(&c.Codec, &c.record)
	if c.broken || len(c.buf) > 0 {
		return &c.record, ErrRecord
	}
	return &c.record, nil
}

// DecodeTo is Decode into a zero record.
func DecodeTo[T any](v *T, record []byte, fields func(*Codec, *T)) error {
	c := &Codec{buf: record, record: record, reading: true}
	if fields(c, v); c.broken || len(c.buf) > 0 {
		return ErrRecord
	}
	return nil
}

func (c *Codec) Number(n *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *n)
		return
	}
	if len(c.buf) == 0 {
		*n = 0
		return
	}
	if c.buf[0] < 0x80 {
		*n, c.buf = uint64(c.buf[0]), c.buf[1:]
		return
	}
	v, size := binary.Uvarint(c.buf)
	if size <= 0 {
		c.broken, c.buf = true, nil
		return
	}
	*n, c.buf = v, c.buf[size:]
}

// HeadOf reads the first fields of a record, without its texts.
func HeadOf(record []byte) Codec { return Codec{buf: record, reading: true, skipping: true} }

// Err is ErrRecord if what was read is damaged.
func (c *Codec) Err() error {
	if c.broken {
		return ErrRecord
	}
	return nil
}

// Raw reads what Bytes and Text write, without copying it.
func (c *Codec) Raw() []byte {
	var n uint64
	if c.Number(&n); n > uint64(len(c.buf)) {
		c.broken, c.buf = true, nil
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

func (c *Codec) Text(s *string) {
	if c.reading {
		if b := c.Raw(); !c.skipping {
			*s = c.string(b)
		}
		return
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(len(*s)))
	c.buf = append(c.buf, *s...)
}

// string returns a part of the record as text.
func (c *Codec) string(b []byte) string {
	if len(b) == 0 || c.record == nil || len(c.record) > maxWhole {
		return string(b)
	}
	if c.whole == "" {
		c.whole = string(c.record)
	}
	at := cap(c.record) - cap(b)
	return c.whole[at : at+len(b)]
}

// Bytes reads a copy: the file's bytes are only valid inside a transaction.
func (c *Codec) Bytes(b *[]byte) {
	if c.reading {
		*b = append([]byte(nil), c.Raw()...)
		return
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(len(*b)))
	c.buf = append(c.buf, *b...)
}

func (c *Codec) Hash(h *[32]byte) {
	b := h[:]
	if c.Bytes(&b); c.reading {
		copy(h[:], b)
	}
}

// Time stores milliseconds plus one; zero is the zero time.
func (c *Codec) Time(t *time.Time) {
	var n uint64
	if !c.reading && !t.IsZero() {
		n = uint64(t.UnixMilli()) + 1
	}
	if c.Number(&n); !c.reading {
		return
	}
	if *t = (time.Time{}); n > 0 {
		*t = time.UnixMilli(int64(n - 1)).UTC()
	}
}

func (c *Codec) Int(i *int) {
	n := uint64(*i)
	c.Number(&n)
	*i = int(n)
}

func (c *Codec) Flag(b *bool) {
	var n uint64
	if *b {
		n = 1
	}
	c.Number(&n)
	*b = n == 1
}

// maxMicroseconds is the longest duration, some 292 years.
const maxMicroseconds = uint64(math.MaxInt64 / time.Microsecond)

// After stores a time as microseconds since an earlier one.
func (c *Codec) After(from time.Time, t *time.Time) {
	n := uint64(max(t.Sub(from).Microseconds(), 0))
	if c.Number(&n); !c.reading {
		return
	}
	if n > maxMicroseconds {
		c.broken, n = true, 0
	}
	*t = from.Add(time.Duration(n) * time.Microsecond)
}

// Inner stores the fields of a nested value, preceded by their length, so that
// they can grow at their end as well.
func Inner[T any](c *Codec, fields func(*Codec, *T), item *T) {
	if !c.reading {
		start := len(c.buf)
		fields(c, item)
		length := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), uint64(len(c.buf)-start))
		c.buf = slices.Insert(c.buf, start, length...)
		return
	}
	part, rest := c.Raw(), c.buf
	c.buf = part
	if fields(c, item); c.broken || len(c.buf) > 0 {
		c.broken, rest = true, nil
	}
	c.buf = rest
}

// List stores the number of items, then each item.
func List[T any](c *Codec, items *[]T, each func(*Codec, *T)) {
	n := uint64(len(*items))
	if c.Number(&n); c.reading {
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

func (c *Codec) Texts(texts *[]string) { List(c, texts, (*Codec).Text) }

// Rest stores bytes that nothing follows, as they are.
func (c *Codec) Rest(b *[]byte) {
	if c.reading {
		*b, c.buf = append([]byte(nil), c.buf...), nil
		return
	}
	c.buf = append(c.buf, *b...)
}

// Reading reports whether fields are read, or else written.
func (c *Codec) Reading() bool { return c.reading }

// Pairs stores names with their values, in order of name.
func (c *Codec) Pairs(pairs *map[string]string) {
	type pair struct{ name, value string }
	var all []pair
	for _, name := range slices.Sorted(maps.Keys(*pairs)) {
		all = append(all, pair{name, (*pairs)[name]})
	}
	fields := func(c *Codec, p *pair) {
		c.Text(&p.name)
		c.Text(&p.value)
	}
	List(c, &all, func(c *Codec, p *pair) { Inner(c, fields, p) })
	if !c.reading || len(all) == 0 {
		return
	}
	*pairs = make(map[string]string, len(all))
	for _, p := range all {
		(*pairs)[p.name] = p.value
	}
}

// Small stores an enumeration or a set of bits.
func Small[T ~uint8](c *Codec, v *T) {
	n := uint64(*v)
	c.Number(&n)
	*v = T(n)
}
