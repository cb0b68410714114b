package pgstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"teamdata/store/rows"
)

// Scan is one query, or none if all in the range was read before. An Update that reads a
// range of keys to its end does that once for its group.
func (t *tx) Scan(k *rows.Kind, r rows.Range, fn func(rows.Item) bool) (err error) {
	in := tableOf(k)
	found, known := t.over.inRange(in, r)
	switch {
	case known:
	case t.over == nil || r.Index != rows.ByKey || r.Limit > 0:
		return t.scan([]*table{in}, in.scan(r, fn))
	default:
		if found, err = t.readWhole(in, r.Bounds); err != nil {
			return err
		}
	}
	if r.Back {
		found = slices.Clone(found)
		slices.Reverse(found)
	}
	for i, one := range found {
		if r.Limit > 0 && i == r.Limit || !fn(rows.Item{Key: one[0], Value: one.value()}) {
			break
		}
	}
	return nil
}

// readWhole reads all rows within some bounds into the overlay.
func (t *tx) readWhole(in *table, b rows.Bounds) (found []row, err error) {
	q := in.selectRange(in.columns, rows.Range{Index: rows.ByKey, Bounds: b})
	if err := t.scan([]*table{in}, q.collect(&found)); err != nil {
		return nil, err
	}
	for _, r := range found {
		t.over.loaded(in, r[:1], r)
	}
	t.over.whole(in, b, found)
	return found, nil
}

// Ranges is one query, which takes one range after the other until it has enough.
func (t *tx) Ranges(k *rows.Kind, ranges []rows.Range, limit int, fn func(i int, item rows.Item) bool) error {
	if len(ranges) == 0 {
		return nil
	}
	in, r := tableOf(k), ranges[0]
	q := query{values: bounds(ranges)}
	q.sql = "SELECT r.i, e.* FROM " + sqlRanges(1) + ", LATERAL (" + in.inRangeOf(ranges, in.item(r)) + in.order(r) + q.limit(r.Limit) + ") e" + q.limit(limit)
	more, last := true, 0
	q.row = func(values [][]byte) error {
		i := int(readBigint(values[0])) - 1
		if i < last { // PostgreSQL promises no order: it has taken them in another one
			return errOrder
		}
		last = i
		more = more && fn(i, in.itemOf(r, values[1:]))
		return nil
	}
	return t.scan([]*table{in}, q)
}

var errOrder = errors.New("ranges came in another order")

func (t *tx) Count(k *rows.Kind, ranges []rows.Range) ([]int, error) {
	counts := make([]int, len(ranges))
	if len(ranges) == 0 {
		return counts, nil
	}
	in, r := tableOf(k), ranges[0]
	q := query{values: bounds(ranges)}
	q.sql = "SELECT r.i, (SELECT count(*) FROM (" + in.inRangeOf(ranges, in.ordered(r.Index)) + in.order(r) + q.limit(r.Limit) + ") counted) FROM " + sqlRanges(1)
	q.row = func(values [][]byte) error {
		counts[readBigint(values[0])-1] = int(readBigint(values[1]))
		return nil
	}
	return counts, t.scan([]*table{in}, q)
}

// limit adds a limit to the parameters; 0: none.
func (q *query) limit(n int) string {
	if n == 0 {
		return ""
	}
	q.values = append(q.values, bigint(int64(n)))
	return fmt.Sprintf(" LIMIT $%d", len(q.values))
}

// scan is the query of a range.
func (t *table) scan(r rows.Range, fn func(rows.Item) bool) query {
	q := t.selectRange(t.item(r), r)
	more := true
	q.row = func(values [][]byte) error {
		more = more && fn(t.itemOf(r, values))
		return nil
	}
	return q
}

func (t *table) selectRange(columns string, r rows.Range) query {
	by := t.ordered(r.Index)
	sql := t.selectKeys(columns) + " WHERE " + by + " >= $1"
	args := []any{r.From}
	if r.To != nil {
		args = append(args, r.To)
		sql += " AND " + by + " < $2"
	}
	sql += t.bare(r) + t.order(r)
	q := newQuery(sql, args...)
	q.sql += q.limit(r.Limit)
	return q
}

// selectKeys selects columns of rows: where a key may have several, of the last one.
func (t *table) selectKeys(columns string) string {
	if t.last != "" {
		columns = "DISTINCT ON (key) " + columns
	}
	return "SELECT " + columns + " FROM " + t.name
}

// order is the order of a range, and among the rows of a key that of selectKeys.
func (t *table) order(r rows.Range) string {
	order := " ORDER BY " + t.ordered(r.Index) + direction(r)
	if t.last != "" {
		order += ", " + t.last + " DESC"
	}
	return order
}

// ordered is the column by which a range is in order.
func (t *table) ordered(index int) string {
	if index == rows.ByKey {
		return "key"
	}
	return t.cols[t.entries[index]].name
}

// item are the columns of which itemOf makes an Item.
func (t *table) item(r rows.Range) string {
	if r.Index == rows.ByKey {
		return "key, value"
	}
	columns := t.ordered(r.Index)
	if t.of.Indexes[r.Index].Valued {
		columns += ", " + t.ordered(r.Index) + "_value"
	}
	if r.Records {
		columns += ", value"
	}
	return columns
}

func (t *table) itemOf(r rows.Range, values [][]byte) rows.Item {
	item := rows.Item{Key: values[0]}
	values = values[1:]
	if r.Index == rows.ByKey || t.of.Indexes[r.Index].Valued {
		item.Value, values = values[0], values[1:]
	}
	if r.Index != rows.ByKey && r.Records {
		item.Record = values[0]
	}
	return item
}

// bare is the condition of a range that has only entries without a value.
func (t *table) bare(r rows.Range) string {
	if r.Bare && t.of.Indexes[r.Index].Valued {
		return " AND " + t.ordered(r.Index) + "_value IS NULL"
	}
	return ""
}

func direction(r rows.Range) string {
	if r.Back {
		return " DESC"
	}
	return ""
}

// Merge takes as many of each range as of all together, which PostgreSQL then sorts. It
// reads only the rows of those that are left.
func (t *tx) Merge(k *rows.Kind, ranges []rows.Range, skip, limit int, fn func(i int, item rows.Item) bool) error {
	if len(ranges) == 0 {
		return nil
	}
	in, direction := tableOf(k), direction(ranges[0])
	q := newQuery("", skip+1)
	most := q.limit(limit)
	var parts []string
	var of []int // the ranges in the order of the parts
	for _, like := range alike(ranges) {
		some := make([]rows.Range, len(like))
		for n, i := range like {
			some[n] = ranges[i]
		}
		r := some[0]
		valued := "NULL::bytea"
		if r.Index != rows.ByKey && in.of.Indexes[r.Index].Valued {
			valued = in.ordered(r.Index) + "_value"
		}
		columns := "key, " + in.ordered(r.Index) + " AS entry, " + valued + " AS entry_value"
		parts = append(parts, fmt.Sprintf("SELECT r.i + %d AS i, e.* FROM ", len(of))+sqlRanges(len(q.values)+1)+", LATERAL ("+in.inRangeOf(some, columns)+in.order(r)+most+") e")
		q.values = append(q.values, bounds(some)...)
		of = append(of, like...)
	}
	order := " ORDER BY substring(m.entry FROM $1::bigint::integer)" + direction + ", m.i"
	q.sql = "SELECT m.i, m.entry, m.entry_value, m.key FROM (" + strings.Join(parts, " UNION ALL ") + ") m" + order + most
	if ranges[0].Records || ranges[0].Index == rows.ByKey {
		q.sql = "SELECT m.i, m.entry, m.entry_value, t.value FROM (" + q.sql + ") m JOIN " + in.name + " t ON t.key = m.key" + order
	}
	more := true
	q.row = func(values [][]byte) error {
		if !more {
			return nil
		}
		i := of[readBigint(values[0])-1]
		item := rows.Item{Key: values[1], Value: values[2]}
		if ranges[i].Index == rows.ByKey {
			item.Value = values[3]
		} else if ranges[i].Records {
			item.Record = values[3]
		}
		more = fn(i, item)
		return nil
	}
	return t.scan([]*table{in}, q)
}

// alike are the places of ranges that one statement reads, together.
func alike(ranges []rows.Range) (all [][]int) {
	for i, r := range ranges {
		n := slices.IndexFunc(all, func(like []int) bool {
			first := ranges[like[0]]
			return first.Index == r.Index && first.Bare == r.Bare && (first.To == nil) == (r.To == nil)
		})
		if n < 0 {
			n, all = len(all), append(all, nil)
		}
		all[n] = append(all[n], i)
	}
	return all
}

// sqlRanges are ranges r with their places i, whose bounds are parameters from one on.
func sqlRanges(from int) string {
	return fmt.Sprintf("unnest($%d::bytea[], $%d::bytea[]) WITH ORDINALITY r (start, upto, i)", from, from+1)
}

// inRangeOf selects columns of what is in a range r of some.
func (t *table) inRangeOf(ranges []rows.Range, columns string) string {
	r := ranges[0]
	column := t.ordered(r.Index)
	below := column + " < r.upto"
	if slices.ContainsFunc(ranges, func(r rows.Range) bool { return r.To == nil }) {
		below = "(" + column + " < r.upto OR r.upto IS NULL)"
	}
	return t.selectKeys(columns) + " WHERE " + column + " >= coalesce(r.start, '') AND " + below + t.bare(r)
}

// bounds are those of ranges, as parameters.
func bounds(ranges []rows.Range) row {
	of := func(bound func(rows.Range) []byte) []byte {
		return array(bytesKind, len(ranges), func(i int) []byte { return bound(ranges[i]) })
	}
	return row{of(func(r rows.Range) []byte { return r.From }), of(func(r rows.Range) []byte { return r.To })}
}

// Join reads one more than the limit, to know whether there are more. A View seldom reads
// more than a page, which is one query and so of one snapshot: around it there is no
// transaction, which would take a second round trip. A View that reads on starts again.
func (t *tx) Join(k *rows.Kind, r rows.Range, dst []byte) (j rows.Joined, err error) {
	limit := r.Limit
	if limit > 0 {
		r.Limit = max(limit, limit+1)
	}
	alone := t.single && !t.begun
	t.begun = t.begun || alone
	err = t.Scan(k, r, func(item rows.Item) bool {
		if limit > 0 && j.Count == limit {
			j.More = true
			return false
		}
		if j.Count > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item.Value...)
		j.Count++
		j.Last = append(j.Last[:0], item.Key...)
		return true
	})
	j.Bytes, t.alone = dst, alone
	return j, err
}
