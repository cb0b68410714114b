package pgstore

import (
	"bytes"
	"slices"
	"sort"

	"teamdata/store/rows"
)

// loadedRange is a range of keys of which a group has read all rows. While none of them is
// written, a Scan within it needs no query. That no others are there is known until the
// end.
type loadedRange struct {
	rows.Bounds
	found   []row // in order
	written bool
}

// sorted are the rows of a table that are known to be there, in order.
func (o *overlay) sorted(t *table) (found []row) {
	for _, e := range o.in(t) {
		if e.row != nil {
			found = append(found, e.row)
		}
	}
	slices.SortFunc(found, func(a, b row) int { return bytes.Compare(a[0], b[0]) })
	return found
}

// whole notes that found are all rows of a table within some bounds, in order.
func (o *overlay) whole(t *table, b rows.Bounds, found []row) {
	all := o.ranges[t.place]
	i, same := slices.BinarySearchFunc(all, b.From, func(l loadedRange, from []byte) int { return bytes.Compare(l.From, from) })
	now := loadedRange{Bounds: b, found: found}
	switch {
	case same && bytes.Equal(all[i].To, b.To) && (all[i].To == nil) == (b.To == nil):
		all[i] = now
	case !(i > 0 && overlap(all[i-1].Bounds, b) || i < len(all) && overlap(b, all[i].Bounds)):
		o.ranges[t.place] = slices.Insert(all, i, now)
	}
}

// overlap reports whether two bounds overlap, of which the first begins first.
func overlap(a, b rows.Bounds) bool { return a.To == nil || bytes.Compare(b.From, a.To) < 0 }

// rewritten notes that a row was written, or that this was undone.
func (o *overlay) rewritten(t *table, key []byte) {
	if l := o.rangeOf(t, key); l != nil {
		l.written = true
	}
}

// unloaded forgets the range that a key is in, which was loaded with what an update had
// written that failed.
func (o *overlay) unloaded(t *table, key []byte) {
	if l := o.rangeOf(t, key); l != nil {
		from := l.From
		o.ranges[t.place] = slices.DeleteFunc(o.ranges[t.place], func(l loadedRange) bool { return bytes.Equal(l.From, from) })
	}
}

// between are those of some rows, which are in order, that are within bounds.
func between(found []row, b rows.Bounds) []row {
	at := func(key []byte) int {
		return sort.Search(len(found), func(i int) bool { return bytes.Compare(found[i][0], key) >= 0 })
	}
	to := len(found)
	if b.To != nil {
		to = at(b.To)
	}
	return found[min(at(b.From), to):to]
}

// rangeOf is the one that a key is in; nil: it is in none.
func (o *overlay) rangeOf(t *table, key []byte) *loadedRange {
	all := o.ranges[t.place]
	i := sort.Search(len(all), func(i int) bool { return bytes.Compare(all[i].From, key) > 0 }) - 1
	if i < 0 || all[i].To != nil && bytes.Compare(key, all[i].To) >= 0 {
		return nil
	}
	return &all[i]
}

// inRange returns the rows of a range in the order of their keys, if all of them were loaded and none was
// written since.
func (o *overlay) inRange(t *table, r rows.Range) (found []row, known bool) {
	if o == nil || r.Index != rows.ByKey {
		return nil, false
	}
	l := o.rangeOf(t, r.From)
	if l == nil || l.written || l.To != nil && (r.To == nil || bytes.Compare(r.To, l.To) > 0) {
		return nil, false
	}
	return between(l.found, r.Bounds), true
}
