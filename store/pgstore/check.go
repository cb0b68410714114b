package pgstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
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
		c.records()
		c.references()
		return c.err
	})
}

// checker goes through all records. After an error it does nothing more.
type checker struct {
	*tx
	found func(fault string)
	err   error
}

func (c *checker) fault(format string, args ...any) { c.found(fmt.Sprintf(format, args...)) }

func (c *checker) records() {
	c.rows()
	events.check(c, c.events)
	deliveries.check(c, c.deliveries)
}

// rows checks all kinds of rows.
func (c *checker) rows() {
	of := rows.Checker{Tx: c.Tx, Walk: c.walk, Found: c.found}
	c.err = of.All(rows.Kinds())
}

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
					if cols := in.cols[i]; (cols.null || cols.name == in.last) && (!bytes.Equal(r[i], value) || (r[i] == nil) != (value == nil)) {
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
	if t.expires() {
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

// keyText shows the key of a row.
func (t *table) keyText(r row) string {
	var parts []string
	for i, v := range r[:t.keys] {
		if t.cols[i].kind == numberKind {
			parts = append(parts, fmt.Sprint(readBigint(v)))
		} else {
			parts = append(parts, fmt.Sprintf("%q", v))
		}
	}
	return t.name + " " + strings.Join(parts, " ")
}

// check checks the form of each record, and that the columns are made of it. fn is
// called with some records at a time, if it is not nil.
func (r records[T]) check(c *checker, fn func(rows []row, list []T)) {
	c.pages(r.table, func(rows []row) {
		list := make([]T, len(rows))
		for i, found := range rows {
			record, err := r.read(found)
			if err != nil {
				c.fault("%s: the record is damaged", r.keyText(found))
				continue
			}
			if list[i] = record; r.made == nil {
				continue
			}
			for n, want := range r.made(&record) {
				if !bytes.Equal(found[r.keys+n], want) {
					c.fault("%s: its column %s is not that of its record", r.keyText(found), r.cols[r.keys+n].name)
				}
			}
		}
		if fn != nil {
			fn(rows, list)
		}
	})
}

// there returns which of some keys are in a table.
func (c *checker) there(t *table, keys []string) map[string]bool {
	key := t.cols[0].name
	rows, err := c.query(nil, "SELECT "+key+" FROM "+t.name+" WHERE "+key+" = ANY($1)", keys)
	c.err = err
	there := map[string]bool{}
	for _, id := range firstTexts(rows) {
		there[id] = true
	}
	return there
}

// events checks that each event still has a delivery.
func (c *checker) events(rows []row, list []store.Event) {
	var ids []string
	for _, e := range list {
		ids = append(ids, e.Deliveries...)
	}
	there := c.there(deliveries.table, ids)
	for i, e := range list {
		if c.err == nil && !slices.ContainsFunc(e.Deliveries, func(id string) bool { return there[id] }) {
			c.fault("%s: none of its deliveries is there", events.keyText(rows[i]))
		}
	}
}

// deliveries checks that each delivery has its event.
func (c *checker) deliveries(rows []row, list []store.Delivery) {
	var ids []string
	for _, d := range list {
		ids = append(ids, d.EventID)
	}
	there := c.there(events.table, ids)
	for i, d := range list {
		if c.err == nil && !there[d.EventID] {
			c.fault("%s: its event %q is missing", deliveries.keyText(rows[i]), d.EventID)
		}
	}
}

// faults are queries that find what must not be: each row names something.
var faults = []struct{ sql, text string }{
	{`SELECT convert_from(key, 'UTF8') FROM accounts a WHERE NOT EXISTS (SELECT 1 FROM members
		WHERE visible_orgs >= a.key || '\x00' AND visible_orgs < a.key || '\x01')`, "accounts %q: may see no org"},
	{"SELECT DISTINCT endpoint::text FROM deliveries d WHERE " + noEndpoint, "deliveries: there is no endpoint %s"},
	{"SELECT endpoint::text FROM last_acknowledged d WHERE " + noEndpoint, "last_acknowledged %s: there is no endpoint of that number"},
}

const noEndpoint = "NOT EXISTS (SELECT 1 FROM endpoints WHERE endpoint_numbers = int8send(d.endpoint)) AND NOT EXISTS (SELECT 1 FROM removed_endpoints WHERE key = int8send(d.endpoint))"

func (c *checker) references() {
	for _, f := range faults {
		if c.err != nil {
			return
		}
		var rows []row
		rows, c.err = c.query(nil, f.sql)
		for _, name := range firstTexts(rows) {
			c.fault(f.text, name)
		}
	}
}
