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
	ranges []rows.Range // by key
}

// want adds what an update reads.
func (a *ahead) want(wants []rows.Want) {
	for _, w := range wants {
		in := a.wantedOf(tableOf(w.Kind))
		if in.keys = append(in.keys, w.Keys...); w.Keys == nil {
			in.ranges = append(in.ranges, rows.Range{Index: rows.ByKey, Bounds: w.Bounds})
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
	slices.SortFunc(w.ranges, func(a, b rows.Range) int { return bytes.Compare(a.From, b.From) })
	w.ranges = slices.CompactFunc(w.ranges, func(a, b rows.Range) bool { return bytes.Equal(a.From, b.From) })
}

// reads are the queries that load it.
func (w *wanted) reads(o *overlay) (queries []query) {
	if len(w.keys) > 0 {
		sql := "SELECT " + w.columns + " FROM " + w.name + " WHERE key = ANY($1)"
		switch {
		case w.of.Rewritten:
			sql = "SELECT l.* FROM unnest($1::bytea[]) k (key), LATERAL (SELECT " + w.columns + " FROM " + w.name + " WHERE key = k.key ORDER BY " + w.last + " DESC LIMIT 1) l"
		case w.of.Span > 0: // of the rows of a key the newest one is kept
			sql += " ORDER BY " + w.last + " DESC"
		}
		queries = append(queries, o.load(w.table, sql, w.keys))
	}
	if len(w.ranges) > 0 {
		q := o.load(w.table, "SELECT e.* FROM "+sqlRanges(1)+", LATERAL ("+w.inRangeOf(w.ranges, w.columns)+") e")
		q.values = bounds(w.ranges)
		queries = append(queries, q)
	}
	return queries
}

// known notes that it was loaded: rows that were not found don't exist.
func (w *wanted) known(o *overlay) {
	if o.absent(w.table, w.keys); len(w.ranges) == 0 {
		return
	}
	found := o.sorted(w.table)
	for _, r := range w.ranges {
		o.whole(w.table, r.Bounds, between(found, r.Bounds))
	}
}
