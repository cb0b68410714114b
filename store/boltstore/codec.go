package boltstore

import (
	"encoding/binary"
	"errors"
	"time"
)

// codec writes or reads the fields of a record, in the order in which the
// record's fields function names them. One function serves both directions, so
// that they can't disagree. A record grows at its end: reading an older record
// leaves the fields it lacks at zero.
type codec struct {
	buf     []byte
	reading bool
	broken  bool
}

var errRecord = errors.New("a record in the data file is damaged; put back a backup")

func encode(fields func(*codec)) []byte {
	c := codec{buf: make([]byte, 0, 160)}
	fields(&c)
	return c.buf
}

func decode(record []byte, fields func(*codec)) error {
	c := codec{buf: record, reading: true}
	fields(&c)
	if c.broken || len(c.buf) > 0 {
		return errRecord
	}
	return nil
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

// next reads a length and that many bytes, which stay part of the record.
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
		*s = string(c.next())
		return
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(len(*s)))
	c.buf = append(c.buf, *s...)
}

// bytes reads a copy: what the file holds is only valid inside a transaction.
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

// time keeps milliseconds, plus one so that zero stays the zero time.
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

func (c *codec) texts(list *[]string) {
	n := uint64(len(*list))
	if c.number(&n); !c.reading {
		for i := range *list {
			c.text(&(*list)[i])
		}
		return
	}
	if *list = nil; n > uint64(len(c.buf)) {
		c.broken, n = true, 0
	}
	for range n {
		*list = append(*list, string(c.next()))
	}
}

// small keeps an enumeration or a set of bits.
func small[T ~uint8](c *codec, v *T) {
	n := uint64(*v)
	c.number(&n)
	*v = T(n)
}
