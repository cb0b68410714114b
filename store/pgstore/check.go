package pgstore

import (
	"bytes"
	"context"
	"fmt"

	"teamdata/store/rows"
)

// Check checks a database for damage, in one snapshot, also while servers use it: the
// form of each record, the columns made of it, and what refers to what, both ways.
// found is called with a line for each fault. The error is why the database can't be
// checked. What PostgreSQL itself may have damaged is found by pg_amcheck.
func Check(ctx context.Context, target *Target, found func(fault string)) error {
	return toRead(ctx, target, nil, func(s *Store) error {
		return s.view(ctx, func(t *tx) error {
			c := &rows.Checker{Tx: t.Tx.Tx, Found: found}
			c.Walk = func(k *rows.Kind, fn eachRow) error { return t.walk(k, c.Fault, fn) }
			return c.All(rows.Kinds())
		})
	})
}

// eachRow is called with a row, and with a function that compares what stands beside its
// value with what should.
type eachRow = func(key, value []byte, compare func(*rows.Entries))

// checkPage is how many rows are in memory at a time.
const checkPage = 1000

// walk calls fn with all rows of a kind, in order of their keys.
func (t *tx) walk(k *rows.Kind, fault func(format string, args ...any), fn eachRow) error {
	in := tableOf(k)
	key, last, keys := "key", "$1", 1
	if in.last != "" {
		key, last, keys = "key, "+in.last, "$1, $2", 2
	}
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", key, checkPage)
	q := newQuery("SELECT " + in.columns + " FROM " + in.name + order)
	for {
		var found []row
		if err := t.exec(q.collect(&found)); err != nil || len(found) == 0 {
			return err
		}
		for _, r := range found {
			fn(r[0], r.value(), func(want *rows.Entries) {
				of := rows.Row{Entries: *want}
				if k.Span > 0 {
					of.At, _ = k.At(r.value())
				}
				for i, value := range in.rowOf(&of) {
					name, own := in.cols[i].name, i == 0 || i == len(r)-1 // key and value
					if !own && (name != in.last || k.Span > 0) && (!bytes.Equal(r[i], value) || (r[i] == nil) != (value == nil)) {
						fault("%s %q: its column %s is not that of its record", k.Name, r[0], name)
					}
				}
			})
		}
		q = query{sql: "SELECT " + in.columns + " FROM " + in.name + " WHERE (" + key + ") > (" + last + ")" + order, values: found[len(found)-1][:keys]}
	}
}
