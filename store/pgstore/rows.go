package pgstore

import (
	"slices"
	"strings"
	"unicode"

	"teamdata/store/rows"
)

// A kind of rows is a table: the key, for each index the key of the row's entry in it, and
// the entry's value where entries have some, and the value. Who writes a row needs not know
// what it was. All of it is bytes, which have an order and can be any text.
//
// The table of a kind with a Span has the time of a row beside its key, and partitions by
// it. A key may have a row in several of them, of which the last counts. That of a kind
// whose rows are written again and again has a time, too.

// kindTables are the tables of kinds, by their places.
var kindTables = defineKinds(nil, rows.Kinds()...)

// defineKinds adds the tables of kinds to others.
func defineKinds(all []*table, kinds ...*rows.Kind) []*table {
	all = append(all, make([]*table, rows.Places()-len(all))...)
	for _, k := range kinds {
		cols := []column{blob("key")}
		if k.Span > 0 || k.Rewritten {
			cols = append(cols, number("at"))
		}
		var entries []int
		for _, x := range k.Indexes {
			name := snake(x.Own())
			entries = append(entries, len(cols))
			if cols = append(cols, blob(name)); x.Valued {
				cols = append(cols, blob(name+"_value"))
			}
		}
		t := define(snake(k.Name), append(cols, blob("value"))...)
		if t.of, t.entries = k, entries; k.Span > 0 || k.Rewritten {
			t.last = "at"
		}
		all[k.Place] = t
	}
	return all
}

// snake is a name of Go as one of SQL.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// expires reports whether a table has rows of a kind with a Span.
func (t *table) expires() bool { return t.of != nil && t.of.Span > 0 }

func tableOf(k *rows.Kind) *table { return kindTables[k.Place] }

// The kinds that this engine reads by itself, most of them to claim what is due.
var (
	deliveries  = kindTable("deliveries")
	events      = kindTable("events")
	removedOrgs = kindTable("removedOrgs")
)

// kindTable finds the table of a kind by its name.
func kindTable(name string) *table {
	for _, k := range rows.Kinds() {
		if k.Name == name {
			return tableOf(k)
		}
	}
	panic("pgstore: there is no kind " + name)
}

// rowOf is a row in the order of a table's columns.
func (t *table) rowOf(of *rows.Row) row {
	r := append(make(row, 0, len(t.cols)), of.Key)
	if t.last != "" {
		r = append(r, millis(of.At))
	}
	for i, x := range t.of.Indexes {
		if r = append(r, of.Entries[i].Key); x.Valued {
			r = append(r, of.Entries[i].Value)
		}
	}
	return append(r, of.Value)
}

// value is that of a kind's row; nil: there is no row.
func (r row) value() []byte {
	if r == nil {
		return nil
	}
	return r[len(r)-1]
}

var _ rows.Rows = (*tx)(nil)

func (t *tx) Get(k *rows.Kind, key []byte) ([]byte, error) {
	found, err := t.get(tableOf(k), key)
	t.replayed = t.replayed || k.Span > 0 && found != nil
	return found.value(), err
}

func (t *tx) Gets(k *rows.Kind, keys [][]byte, fn func(i int, value []byte) error) error {
	in := tableOf(k)
	found := make(map[string][]byte, len(keys))
	var unknown [][]byte
	for _, key := range keys {
		if r, known := t.over.row(in, key); known {
			found[string(key)] = r.value()
		} else {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		q := newQuery(in.selectKeys(in.columns)+" WHERE key = ANY($1)"+in.order(rows.Range{Index: rows.ByKey}), unknown)
		q.row = func(values [][]byte) error {
			r := copyRow(values)
			found[string(r[0])] = r.value()
			if t.over != nil {
				t.over.loaded(in, r[:1], r)
			}
			return nil
		}
		if err := t.scan(nil, q); err != nil {
			return err
		}
		t.over.absent(in, unknown)
	}
	for i, key := range keys {
		if value := found[string(key)]; value != nil {
			if err := fn(i, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) Write(k *rows.Kind, r *rows.Row) error {
	to := tableOf(k)
	if k.Rewritten {
		return t.rewrite(to, r)
	}
	if r.Value == nil {
		if to == removedOrgs { // nothing of the org is left, nor updates of it that lock it
			if err := t.remove(lockedOrgs, r.Key); err != nil {
				return err
			}
		}
		return t.remove(to, r.Key)
	}
	if k.Span > 0 {
		if p := partitionOf(k, r.At); !t.s.partitions.has(p) && !slices.Contains(t.lacking, p) {
			t.lacking = append(t.lacking, p)
		}
	}
	full := to.rowOf(r)
	if r.New {
		return t.insert(to, full)
	}
	return t.put(to, full)
}

// rewrite adds a row in the place of the one before, which is not written over: the last
// one of a key is found first, however many versions of others anybody may still see.
func (t *tx) rewrite(to *table, r *rows.Row) error {
	if t.over == nil {
		return fault(errReadOnly)
	}
	before, err := t.get(to, r.Key)
	if err != nil {
		return err
	}
	r.At = t.now
	switch {
	case before == nil:
		r.At = t.over.afterStale(to, r.Key, r.At) // it may have been deleted just now
	case t.over.unsent(to, r.Key):
		r.At = readTime(before[1])
	default:
		t.over.stale = append(t.over.stale, staleRow{to, before})
		r.At = after(before, r.At)
	}
	if r.Value == nil {
		return t.remove(to, r.Key)
	}
	return t.put(to, to.rowOf(r))
}

// numbers is the sequence of a kind's numbers.
func (t *table) numbers() string { return t.name + "_numbers" }

// Next asks a sequence, which gives no number twice, whatever becomes of the transaction.
func (t *tx) Next(k *rows.Kind) (n uint64, err error) {
	if t.over == nil {
		return 0, fault(errReadOnly)
	}
	q := newQuery("SELECT nextval('" + tableOf(k).numbers() + "')")
	q.row = func(values [][]byte) error {
		n = readUnsigned(values[0])
		return nil
	}
	return n, t.scan(nil, q)
}

func (t *tx) Sealing() rows.Sealing { return t.s.seal }

// Rewritable is little: PostgreSQL writes a row as a whole, into its log, too.
func (t *tx) Rewritable() int { return 256 }

func (t *tx) Changed() *rows.Changes { return &t.Changes }
