package boltstore

import (
	"bytes"
	"cmp"
	"slices"

	"go.etcd.io/bbolt"

	"teamdata/store/rows"
)

// walk goes through a range of a bucket, whatever its limit.
type walk struct {
	*bbolt.Cursor
	rows.Range
}

// first goes to the first key, and next to the one after the given one; nil: there is no
// more.
func (w *walk) first() (key, value []byte) {
	switch {
	case !w.Back:
		return w.within(w.Seek(w.From))
	case w.To != nil:
		if key, _ = w.Seek(w.To); key != nil {
			return w.within(w.prev(w.To))
		}
	}
	return w.within(w.Cursor.Last())
}

func (w *walk) next(key []byte) (_, value []byte) {
	if w.Back || w.Bare {
		return w.within(w.step(key))
	}
	// Pages are read so, most of the time.
	if key, value = w.Next(); w.To != nil && bytes.Compare(key, w.To) >= 0 {
		return nil, nil
	}
	return key, value
}

func (w *walk) step(key []byte) (_, value []byte) {
	if w.Back {
		return w.prev(key)
	}
	return w.Next()
}

// prev goes back from a key. A page whose keys were all deleted since the last commit is
// where bbolt says that there are no more, and goes on if it is asked again.
func (w *walk) prev(from []byte) (key, value []byte) {
	for key, value = w.Prev(); key == nil; key, value = w.Prev() {
		if first, _ := w.Bucket().Cursor().First(); first == nil || bytes.Compare(first, from) >= 0 {
			return nil, nil
		}
	}
	return key, value
}

// within is the key if the range has it, or the next one that it has.
func (w *walk) within(key, value []byte) (_, _ []byte) {
	for key != nil {
		if w.Back && bytes.Compare(key, w.From) < 0 || !w.Back && w.To != nil && bytes.Compare(key, w.To) >= 0 {
			return nil, nil
		}
		if !w.Bare || len(value) == 0 {
			return key, value
		}
		key, value = w.step(key)
	}
	return nil, nil
}

func (t *tx) Scan(k *rows.Kind, r rows.Range, fn func(rows.Item) bool) error {
	if k.Span > 0 {
		return t.scanExpiring(k, r, fn)
	}
	b := t.of(k, r.Index)
	if b == nil {
		return nil
	}
	records := newLookup(t, k, &r)
	w, n := walk{b.Cursor(), r}, 0
	for key, value := w.first(); key != nil; key, value = w.next(key) {
		item, err := records.item(key, value)
		if err != nil {
			return err
		}
		if n++; !fn(item) || n == r.Limit {
			break
		}
	}
	return nil
}

// lookup finds the rows of entries.
type lookup struct {
	rows   *bbolt.Bucket // nil: they are not asked for
	record func(dst, key, value []byte) []byte
	key    []byte
}

func newLookup(t *tx, k *rows.Kind, r *rows.Range) (l lookup) {
	if r.Records && r.Index != rows.ByKey {
		l.rows, l.record = t.of(k, rows.ByKey), k.Indexes[r.Index].Record
	}
	return l
}

func (l *lookup) item(key, value []byte) (rows.Item, error) {
	item := rows.Item{Key: key, Value: value}
	if l.rows == nil {
		return item, nil
	}
	l.key = l.record(l.key[:0], key, value)
	if item.Record = l.rows.Get(l.key); item.Record == nil {
		return item, storageFault(rows.ErrRecord)
	}
	return item, nil
}

func (t *tx) Ranges(k *rows.Kind, ranges []rows.Range, limit int, fn func(i int, item rows.Item) bool) error {
	n, more := 0, true
	for i, r := range ranges {
		err := t.Scan(k, r, func(item rows.Item) bool {
			n++
			more = fn(i, item) && n != limit
			return more
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (t *tx) Count(k *rows.Kind, ranges []rows.Range) ([]int, error) {
	counts := make([]int, len(ranges))
	for i, r := range ranges {
		r.Records = false
		if err := t.Scan(k, r, func(rows.Item) bool { counts[i]++; return true }); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// head is the first item of a range that is merged with others.
type head struct {
	walk
	lookup
	i          int
	key, value []byte
}

func (t *tx) Merge(k *rows.Kind, ranges []rows.Range, skip, limit int, fn func(i int, item rows.Item) bool) error {
	heads := make([]*head, 0, len(ranges))
	for i, r := range ranges {
		h := &head{walk: walk{t.of(k, r.Index).Cursor(), r}, lookup: newLookup(t, k, &r), i: i}
		if h.key, h.value = h.first(); h.key != nil {
			heads = append(heads, h)
		}
	}
	order := func(a, b *head) int {
		n := bytes.Compare(a.key[skip:], b.key[skip:])
		if a.Back {
			n = -n
		}
		return cmp.Or(n, a.i-b.i)
	}
	slices.SortFunc(heads, order)
	for n := 0; len(heads) > 0 && (limit == 0 || n < limit); {
		h := heads[0]
		item, err := h.item(h.key, h.value)
		if err != nil {
			return err
		}
		if n++; !fn(h.i, item) {
			break
		}
		if h.key, h.value = h.next(h.key); h.key == nil {
			heads = heads[1:]
			continue
		}
		at, _ := slices.BinarySearchFunc(heads[1:], h, order)
		copy(heads, heads[1:1+at])
		heads[at] = h
	}
	return nil
}

func (t *tx) Join(k *rows.Kind, r rows.Range, dst []byte) (j rows.Joined, err error) {
	b := t.of(k, r.Index)
	if b == nil {
		return rows.Joined{Bytes: dst}, nil
	}
	var last []byte
	w, n := walk{b.Cursor(), r}, 0
	key, value := w.first()
	for ; key != nil && (n < r.Limit || r.Limit == 0); key, value = w.next(key) {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, value...)
		last = key
		n++
	}
	return rows.Joined{Bytes: dst, Count: n, Last: last, More: key != nil}, nil
}
