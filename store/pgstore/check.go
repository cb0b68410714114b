package pgstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"teamdata/store/rows"
)

// Check checks a database for damage, in one snapshot, also while servers use it: the
// form of each record, the columns made of it, and what refers to what, both ways.
// found is called with a line for each fault. The error is why the database can't be
// checked. What PostgreSQL itself may have damaged is found by pg_amcheck.
func Check(ctx context.Context, target *Target, found func(fault string)) error {
	s := &Store{target: target, pool: newPool(target, 1), life: ctx}
	defer s.pool.close()
	s.setTime(time.Now())
	if err := s.pool.prepare(ctx, migrations, reading); err != nil {
		return err
	}
	return s.view(ctx, func(t *tx) error {
		c := &checker{tx: t, found: found}
		of := rows.Checker{Tx: c.Tx.Tx, Walk: c.walk, Found: c.found}
		return of.All(rows.Kinds())
	})
}

// checker goes through all records. After an error it does nothing more.
type checker struct {
	*tx
	found func(fault string)
	err   error
}

func (c *checker) fault(format string, args ...any) { c.found(fmt.Sprintf(format, args...)) }

func (c *checker) walk(k *rows.Kind, fn func(key, value []byte, compare func(*rows.Entries))) error {
	in := tableOf(k)
	c.pages(in, func(found []row) {
		for _, r := range found {
			fn(r[0], r.value(), func(want *rows.Entries) {
				of := rows.Row{Entries: *want}
				if k.Span > 0 {
					of.At, _ = k.At(r.value())
				}
				for i, value := range in.rowOf(&of) {
					if cols := in.cols[i]; (cols.null || cols.name == in.last && k.Span > 0) && (!bytes.Equal(r[i], value) || (r[i] == nil) != (value == nil)) {
						c.fault("%s %q: its column %s is not that of its record", k.Name, r[0], cols.name)
					}
				}
			})
		}
	})
	return c.err
}

// checkPage is how many rows are in memory at a time.
const checkPage = 1000

// pages calls fn with all rows of a table, some at a time, in order of their keys.
func (c *checker) pages(t *table, fn func(rows []row)) {
	var names, places []string
	keys := t.keys
	if t.last != "" {
		keys++
	}
	for i, col := range t.cols[:keys] {
		names, places = append(names, col.name), append(places, fmt.Sprintf("$%d", i+1))
	}
	key := strings.Join(names, ", ")
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", key, checkPage)
	q := newQuery("SELECT " + t.columns + " FROM " + t.name + order)
	for c.err == nil {
		var rows []row
		if c.err = c.exec(q.collect(&rows)); c.err != nil || len(rows) == 0 {
			return
		}
		fn(rows)
		q = newQuery("SELECT " + t.columns + " FROM " + t.name + " WHERE (" + key + ") > (" + strings.Join(places, ", ") + ")" + order)
		q.values = rows[len(rows)-1][:keys]
	}
}
