package pgstore

import (
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

// Ranges is a query a range, in one round trip.
func (t *tx) Ranges(k *rows.Kind, ranges []rows.Range, fn func(i int, item rows.Item) bool) error {
	in := tableOf(k)
	var queries []query
	for i, r := range ranges {
		queries = append(queries, in.scan(r, func(item rows.Item) bool { return fn(i, item) }))
	}
	if len(queries) == 0 {
		return nil
	}
	return t.scan([]*table{in}, queries...)
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
	if r.Limit > 0 {
		args = append(args, r.Limit)
		sql += fmt.Sprintf(" LIMIT $%d", len(args))
	}
	return newQuery(sql, args...)
}

// selectKeys selects columns of rows: where a key may have several, of the last one.
func (t *table) selectKeys(columns string) string {
	if t.expires() {
		columns = "DISTINCT ON (key) " + columns
	}
	return "SELECT " + columns + " FROM " + t.name
}

// order is the order of a range, and among the rows of a key that of selectKeys.
func (t *table) order(r rows.Range) string {
	order := " ORDER BY " + t.ordered(r.Index) + direction(r)
	if t.expires() {
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

// Merge takes as many of each range as of all together, which PostgreSQL then sorts.
func (t *tx) Merge(k *rows.Kind, ranges []rows.Range, skip, limit int, fn func(i int, item rows.Item) bool) error {
	if len(ranges) == 0 {
		return nil
	}
	in, r := tableOf(k), ranges[0]
	column := in.ordered(r.Index)
	bound := func(of func(rows.Range) []byte) []byte {
		return array(entryKind, len(ranges), func(i int) []byte { return of(ranges[i]) })
	}
	below := "%[1]s < r.upto"
	if slices.ContainsFunc(ranges, func(r rows.Range) bool { return r.To == nil }) {
		below = "(%[1]s < r.upto OR r.upto IS NULL)"
	}
	most := ""
	if limit > 0 {
		most = " LIMIT $4"
	}
	q := newQuery(strings.Join([]string{
		"SELECT r.i, e.* FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY r (start, upto, i), LATERAL (",
		"SELECT " + in.item(r) + " FROM " + in.name + " WHERE " + column + " >= coalesce(r.start, '') AND " + fmt.Sprintf(below, column) + in.bare(r),
		"ORDER BY " + column + direction(r) + most,
		") e ORDER BY substring(e." + column + " FROM $3::bigint::integer)" + direction(r) + ", r.i" + most,
	}, " "))
	q.values = row{bound(func(r rows.Range) []byte { return r.From }), bound(func(r rows.Range) []byte { return r.To }), bigint(int64(skip) + 1)}
	if limit > 0 {
		q.values = append(q.values, bigint(int64(limit)))
	}
	more := true
	q.row = func(values [][]byte) error {
		more = more && fn(int(readBigint(values[0]))-1, in.itemOf(r, values[1:]))
		return nil
	}
	return t.scan([]*table{in}, q)
}

// Join reads one more than the limit, to know whether there are more.
func (t *tx) Join(k *rows.Kind, r rows.Range, dst []byte) (j rows.Joined, err error) {
	limit := r.Limit
	if limit > 0 {
		r.Limit = oneMore(limit)
	}
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
	j.Bytes = dst
	return j, err
}
