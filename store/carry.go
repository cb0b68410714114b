package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"teamdata/store/rows"
)

// Kind is a kind of record that is carried from one engine to another. Most are kinds of
// rows, by their names: keys and values are carried as they are, so that secrets stay
// sealed. If a kind has a Span and a key was written several times, the last row is carried.
type Kind string

// KindDeliveryCounts are no rows. The key is the number of hours since 1970, the org id, a
// zero byte and the endpoint number, the record their sum. Numbers are 8 bytes, big-endian.
const KindDeliveryCounts Kind = "deliveryCounts"

// numbersOf begins the name of a Kind that has one record: the number that a kind of rows
// gave last. Its key is empty. Without such a number there is no record.
const numbersOf = "numbers of "

// Kinds are all kinds, in the order in which they are carried, which is that of their names.
func Kinds() []Kind {
	kinds := []Kind{KindDeliveryCounts}
	for _, k := range rows.Kinds() {
		if kinds = append(kinds, Kind(k.Name)); k.Numbers {
			kinds = append(kinds, numbersOf+Kind(k.Name))
		}
	}
	slices.Sort(kinds)
	return kinds
}

// NumbersOf is the kind of rows whose number given last is the record of a Kind; nil: the
// Kind has no such record.
func NumbersOf(kind Kind) *rows.Kind {
	if name, ok := strings.CutPrefix(string(kind), numbersOf); ok {
		return rows.Named(name)
	}
	return nil
}

// EachRecord is called with a record, whose bytes are valid until it returns.
type EachRecord func(kind Kind, key, record []byte) error

// Source is the data of an engine, which does not change meanwhile.
type Source interface {
	// Dump calls fn with all records, kind by kind, each in the order of its keys. What
	// an engine keeps beside them, such as indexes, it makes itself.
	Dump(ctx context.Context, fn EachRecord) error
}

// Carrier is an engine that the records of another one are carried to.
type Carrier interface {
	Source
	// Load adds the records that fill puts to an engine which holds none. They come in
	// the order of Dump.
	Load(ctx context.Context, fill func(put EachRecord) error) error
}

// Carried is what was carried.
type Carried struct {
	Counts map[Kind]int
	SHA256 [sha256.Size]byte // of all that Dump yields
}

// Total is the number of records.
func (c *Carried) Total() (n int) {
	for _, count := range c.Counts {
		n += count
	}
	return n
}

// Carry carries all records, reads them back, and compares both. progress is called now
// and then with the kind and the number of its records that were carried, or read back.
func Carry(ctx context.Context, from Source, to Carrier, progress func(kind Kind, n int, readBack bool)) (Carried, error) {
	there := newDigest(ctx, func(kind Kind, n int) { progress(kind, n, false) })
	err := to.Load(ctx, func(put EachRecord) error {
		return from.Dump(ctx, func(kind Kind, key, record []byte) error {
			if err := there.add(kind, key, record); err != nil {
				return err
			}
			if k := rows.Named(string(kind)); k != nil {
				if _, err := k.Records.Decode(record); err != nil {
					return fmt.Errorf("%s %q: %w", kind, key, err)
				}
			}
			return put(kind, key, record)
		})
	})
	if err != nil {
		return Carried{}, err
	}
	back := newDigest(ctx, func(kind Kind, n int) { progress(kind, n, true) })
	if err := to.Dump(ctx, back.add); err != nil {
		return Carried{}, err
	}
	want, got := there.sum(), back.sum()
	if want.SHA256 != got.SHA256 {
		return Carried{}, fmt.Errorf("the copy differs from the original: %x, not %x%s", got.SHA256, want.SHA256, countsApart(want, got))
	}
	return want, nil
}

// countsApart names the kinds of which two sides have different numbers.
func countsApart(want, got Carried) string {
	var b strings.Builder
	for _, kind := range Kinds() {
		if want.Counts[kind] != got.Counts[kind] {
			fmt.Fprintf(&b, "; %s: %d of %d", kind, got.Counts[kind], want.Counts[kind])
		}
	}
	return b.String()
}

// digest adds up what a Dump yields.
type digest struct {
	ctx      context.Context
	progress func(kind Kind, n int)
	hash     hash.Hash
	head     []byte
	counts   map[Kind]int
}

func newDigest(ctx context.Context, progress func(Kind, int)) *digest {
	return &digest{ctx: ctx, progress: progress, hash: sha256.New(), counts: map[Kind]int{}}
}

// progressAfter is the number of records after which progress is told.
const progressAfter = 1000

func (d *digest) add(kind Kind, key, record []byte) error {
	n := d.counts[kind] + 1
	if d.counts[kind] = n; n%progressAfter == 1 {
		if err := context.Cause(d.ctx); err != nil {
			return err
		}
		d.progress(kind, n)
	}
	d.head = d.head[:0] // each part behind its length, so that no two dumps are alike
	for _, size := range []int{len(kind), len(key), len(record)} {
		d.head = binary.AppendUvarint(d.head, uint64(size))
	}
	d.hash.Write(append(d.head, kind...))
	d.hash.Write(key)
	d.hash.Write(record)
	return nil
}

func (d *digest) sum() Carried {
	return Carried{Counts: d.counts, SHA256: [sha256.Size]byte(d.hash.Sum(nil))}
}
