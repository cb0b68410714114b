package pgstore

import (
	"bytes"
	"slices"

	"teamdata/store/rows"
)

// wanted is what a group reads ahead of a kind: rows by their keys, and ranges of them,
// which don't overlap.
type wanted struct {
	*table
	keys   [][]byte
	ranges []rows.Bounds
}

// want adds what an update reads.
func (a *ahead) want(wants []rows.Want) {
	for _, w := range wants {
		in := a.wantedOf(tableOf(w.Kind))
		if in.keys = append(in.keys, w.Keys...); w.Keys == nil {
			in.ranges = append(in.ranges, w.Bounds)
		}
	}
}

func (a *ahead) wantDeliveries(ids []string) {
	for _, id := range ids {
		in := a.wantedOf(deliveries)
		in.keys = append(in.keys, []byte(id))
	}
}

func (a *ahead) wantedOf(t *table) *wanted {
	for i := range a.wanted {
		if a.wanted[i].table == t {
			return &a.wanted[i]
		}
	}
	a.wanted = append(a.wanted, wanted{table: t})
	return &a.wanted[len(a.wanted)-1]
}

// compact leaves each key and each range once, in order.
func (w *wanted) compact() {
	slices.SortFunc(w.keys, bytes.Compare)
	w.keys = slices.CompactFunc(w.keys, bytes.Equal)
	slices.SortFunc(w.ranges, func(a, b rows.Bounds) int { return bytes.Compare(a.From, b.From) })
	w.ranges = slices.CompactFunc(w.ranges, func(a, b rows.Bounds) bool { return bytes.Equal(a.From, b.From) })
}

// reads are the queries that load it.
func (w *wanted) reads(o *overlay) (queries []query) {
	switch {
	case len(w.keys) == 0:
	case w.of.Rewritten:
		queries = append(queries, o.loadAll(w.table, "SELECT l.* FROM unnest($1::bytea[]) k (key), LATERAL (SELECT "+w.columns+" FROM "+w.name+" WHERE key = k.key ORDER BY "+w.last+" DESC LIMIT 1) l", w.keys))
	case w.of.Span > 0: // of the rows of a key the newest one is kept
		queries = append(queries, o.load(w.table, "key = ANY($1) ORDER BY "+w.last+" DESC", w.keys))
	default:
		queries = append(queries, o.load(w.table, "key = ANY($1)", w.keys))
	}
	switch n := len(w.ranges); {
	case n > 0 && w.ranges[n-1].To == nil: // then it is the only one, of all
		queries = append(queries, o.load(w.table, "key >= $1", w.ranges[0].From))
	case n > 0:
		queries = append(queries, o.loadAll(w.table, w.inRanges(w.columns), w.bounds()...))
	}
	return queries
}

// inRanges reads some columns of what is in the ranges, whose bounds are its parameters.
func (w *wanted) inRanges(columns string) string {
	return "SELECT e.* FROM unnest($1::bytea[], $2::bytea[]) r (start, upto), LATERAL (SELECT " + columns + " FROM " + w.name + " WHERE key >= r.start AND key < r.upto) e"
}

func (w *wanted) bounds() []any {
	var from, to [][]byte
	for _, b := range w.ranges {
		from, to = append(from, b.From), append(to, b.To)
	}
	return []any{from, to}
}

// known notes that it was loaded: what was not found is not there.
func (w *wanted) known(o *overlay) {
	if o.absent(w.table, w.keys); len(w.ranges) == 0 {
		return
	}
	found := o.sorted(w.table)
	for _, b := range w.ranges {
		o.whole(w.table, b, between(found, b))
	}
}
