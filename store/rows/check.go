package rows

import (
	"bytes"
	"fmt"
)

// Checker checks what an engine keeps: that each value can be read, that its key is its
// record's, that its entries are there as they should be, and no others, and what else
// the record's Checks ask for. After an error of the engine it does nothing more.
type Checker struct {
	*Tx

	// Walk calls fn with each row of a kind, in order of their keys, and with a function
	// that compares the entries that the row should have with those that the engine has.
	// The engine tells of faults of the kind itself, such as an entry without a row.
	Walk func(k *Kind, fn func(key, value []byte, compare func(want *Entries))) error

	Found func(fault string) // called with a line for each fault
	Err   error

	looks []look
	named map[string]bool
}

// look is something that is to be looked at: a row, or whether a range has anything.
type look struct {
	kind *Kind
	Range
	fn func(value []byte)
}

// maxLooks is how many rows are looked at at once.
const maxLooks = 500

// Fault tells of a fault.
func (c *Checker) Fault(format string, args ...any) { c.Found(fmt.Sprintf(format, args...)) }

// All checks the rows of some kinds.
func (c *Checker) All(kinds []*Kind) error {
	for _, k := range kinds {
		if c.Err == nil {
			k.Check(c)
			c.look()
		}
	}
	return c.Err
}

// Look calls fn with the value under a key, nil if there is none: soon, together with
// others.
func (c *Checker) Look(k *Kind, key []byte, fn func(value []byte)) {
	c.lookAt(look{k, Range{Index: ByKey, Bounds: Bounds{From: bytes.Clone(key)}}, fn})
}

// LookIn calls fn with whether there is anything in a range of an index, like Look.
func (c *Checker) LookIn(k *Kind, index int, b Bounds, fn func(there bool)) {
	c.lookAt(look{k, Range{Index: index, Bounds: b, Limit: 1}, func(value []byte) { fn(value != nil) }})
}

// Once reports whether something is named for the first time, which many rows name.
func (c *Checker) Once(name string) bool {
	if c.named == nil {
		c.named = map[string]bool{}
	}
	first := !c.named[name]
	c.named[name] = true
	return first
}

func (c *Checker) lookAt(l look) {
	if c.looks = append(c.looks, l); len(c.looks) >= maxLooks {
		c.look()
	}
}

// look looks at all, those of one kind and index at once.
func (c *Checker) look() {
	for len(c.looks) > 0 && c.Err == nil {
		of := c.looks[0]
		var now, rest []look
		for _, l := range c.looks {
			if l.kind == of.kind && l.Index == of.Index {
				now = append(now, l)
			} else {
				rest = append(rest, l)
			}
		}
		c.looks = rest
		values := make([][]byte, len(now))
		if of.Index == ByKey {
			keys := make([][]byte, len(now))
			for i, l := range now {
				keys[i] = l.From
			}
			c.Err = c.Gets(of.kind, keys, func(i int, value []byte) error {
				values[i] = append(make([]byte, 0, len(value)+1), value...)
				return nil
			})
		} else {
			ranges := make([]Range, len(now))
			for i, l := range now {
				ranges[i] = l.Range
			}
			c.Err = c.Ranges(of.kind, ranges, 0, func(i int, _ Item) bool {
				values[i] = []byte{}
				return true
			})
		}
		for i, l := range now {
			if c.Err == nil {
				l.fn(values[i])
			}
		}
	}
}

// check checks the rows of the table.
func (t *Table[T]) check(c *Checker) {
	var want Entries
	var own []byte
	err := c.Walk(&t.Kind, func(key, value []byte, compare func(*Entries)) {
		v, err := t.Read(key, value)
		if err != nil {
			c.Fault("%s %q: the record is damaged", t.Name, key)
			return
		}
		if own = t.Key(own[:0], &v); !bytes.Equal(own, key) {
			c.Fault("%s %q: the record is that of %q", t.Name, key, own)
		}
		t.entries(c.Tx, &v, false, &want)
		if compare(&want); t.Checks != nil {
			t.Checks(c, key, &v)
		}
		c.write().Reuse()
	})
	if c.Err == nil {
		c.Err = err
	}
}
