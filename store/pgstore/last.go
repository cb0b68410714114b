package pgstore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"teamdata/store/rows"
)

// order is that of a table's rows by their keys, or by those of an index.
type order struct {
	*table
	index int
}

// at is the key of a row in the order; nil: it is not in it.
func (o order) at(r row) []byte {
	switch {
	case r == nil:
		return nil
	case o.index == rows.ByKey:
		return r[0]
	}
	return r[o.entries[o.index]]
}

// orgLists are the lists of orgs to which updates append. Where each one ends is read ahead.
var orgLists = []order{orderOf("members", "memberList"), orderOf("auditLog", "")}

// orderOf finds an order by its names; without that of an index it is that of the rows.
func orderOf(kind, index string) order {
	t := kindTable(kind)
	return order{t, slices.IndexFunc(t.of.Indexes, func(x rows.Index) bool { return x.Own() == index })}
}

// lastOf is where the Last of an index is asked for: behind a prefix that ends with its
// first zero byte.
type lastOf struct {
	index  int
	prefix string
}

// moved is a change of what is the last, with what it was.
type moved struct {
	place  int
	of     lastOf
	before []byte
	forget bool // it was not known
}

// prefixOf is the prefix that a key has as far as lastOf knows.
func prefixOf(key []byte) string { return string(key[:bytes.IndexByte(key, 0)+1]) }

// last returns the greatest key behind a prefix as it is now, if that is known.
func (o *overlay) last(in order, prefix []byte) (last []byte, known bool) {
	if o == nil {
		return nil, false
	}
	last, known = o.lasts[in.place][lastOf{in.index, string(prefix)}]
	return last, known
}

// loadedLast keeps what was read, unless it is known.
func (o *overlay) loadedLast(in order, prefix, last []byte) {
	of := lastOf{in.index, string(prefix)}
	if _, known := o.lasts[in.place][of]; known || len(prefix) == 0 || prefixOf(prefix) != of.prefix {
		return
	}
	if o.lasts[in.place] == nil {
		o.lasts[in.place] = map[lastOf][]byte{}
	}
	o.moved = append(o.moved, moved{in.place, of, nil, true})
	o.lasts[in.place][of] = last
}

// move keeps up with a row that takes the place of another one. Of a row that is not known
// it is not known either whether it was the last.
func (o *overlay) move(t *table, key, was, r row, known bool) {
	lasts := o.lasts[t.place]
	if len(lasts) == 0 {
		return
	}
	for index := rows.ByKey; index < len(t.entries); index++ {
		in := order{t, index}
		old, now := in.at(was), in.at(r)
		switch {
		case index == rows.ByKey:
			old = key[0]
		case !known:
			for of := range lasts {
				if of.index == index {
					delete(lasts, of)
				}
			}
			continue
		}
		if old != nil && !bytes.Equal(old, now) {
			of := lastOf{index, prefixOf(old)}
			if last, ok := lasts[of]; ok && bytes.Equal(last, old) {
				o.moved = append(o.moved, moved{t.place, of, last, false})
				delete(lasts, of)
			}
		}
		if now != nil {
			of := lastOf{index, prefixOf(now)}
			if last, ok := lasts[of]; ok && bytes.Compare(last, now) < 0 {
				o.moved = append(o.moved, moved{t.place, of, last, false})
				lasts[of] = now
			}
		}
	}
}

// unmove undoes what an update moved.
func (o *overlay) unmove() {
	for _, m := range slices.Backward(o.moved) {
		if o.lasts[m.place][m.of] = m.before; m.forget {
			delete(o.lasts[m.place], m.of)
		}
	}
	o.moved = o.moved[:0]
}

// loadLasts makes the query that loads the last of each list behind some prefixes.
func (o *overlay) loadLasts(lists []order, prefixes [][]byte) query {
	var columns, joins strings.Builder
	for i, in := range lists {
		fmt.Fprintf(&columns, ", l%d.last", i)
		fmt.Fprintf(&joins, " LEFT JOIN LATERAL (SELECT %[2]s AS last FROM %[3]s WHERE %[2]s >= p.start AND %[2]s < p.upto ORDER BY %[2]s DESC LIMIT 1) l%[1]d ON true", i, in.ordered(in.index), in.name)
	}
	ends := make([][]byte, len(prefixes))
	for i, prefix := range prefixes {
		ends[i] = rows.End(prefix)
	}
	q := newQuery("SELECT p.start"+columns.String()+" FROM unnest($1::bytea[], $2::bytea[]) p (start, upto)"+joins.String(), prefixes, ends)
	q.row = func(values [][]byte) error {
		r := copyRow(values)
		for i, in := range lists {
			o.loadedLast(in, r[0], r[1+i])
		}
		return nil
	}
	return q
}

// Last is known of the lists that were read ahead, and of those that were asked for before.
func (t *tx) Last(k *rows.Kind, index int, prefix []byte) (last []byte, err error) {
	in := order{tableOf(k), index}
	if last, known := t.over.last(in, prefix); known {
		return last, nil
	}
	r := rows.Range{Index: index, Bounds: rows.Within(prefix), Back: true, Limit: 1}
	err = t.Scan(k, r, func(item rows.Item) bool {
		last = bytes.Clone(item.Key)
		return false
	})
	if err == nil && t.over != nil {
		t.over.loadedLast(in, prefix, last)
	}
	return last, err
}
