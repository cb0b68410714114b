package pgstore

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"teamdata/store/rows"
)

// A kind of rows is a table: the key, for each index the key of the row's entry in it, and
// the entry's value where entries have some, and the value. Who writes a row needs not know
// what it was. All of it is bytes, which have an order and can be any text.

// entryKind is the type of an entry's key and of its value, of which there may be none.
var entryKind = kind{name: "bytea", oid: 17, array: 1001, null: true}

// kindTables are the tables of kinds, by their places.
var kindTables = defineKinds(nil, rows.Kinds()...)

// defineKinds adds the tables of kinds to others.
func defineKinds(all []*table, kinds ...*rows.Kind) []*table {
	all = append(all, make([]*table, rows.Places()-len(all))...)
	for _, k := range kinds {
		cols := []column{blob("key")}
		var entries []int
		for _, x := range k.Indexes {
			name := snake(x.Own())
			entries = append(entries, len(cols))
			if cols = append(cols, column{name, entryKind}); x.Valued {
				cols = append(cols, column{name + "_value", entryKind})
			}
		}
		t := define(snake(k.Name), 1, append(cols, blob("value"))...)
		t.of, t.entries = k, entries
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

func tableOf(k *rows.Kind) *table { return kindTables[k.Place] }

// kindTable finds the table of a kind that this engine reads by itself.
func kindTable(name string) *table {
	for _, k := range rows.Kinds() {
		if k.Name == name {
			return tableOf(k)
		}
	}
	panic("pgstore: there is no kind " + name)
}

// rowOf is a row with its entries, in the order of a table's columns.
func (t *table) rowOf(key []byte, entries *rows.Entries, value []byte) row {
	r := append(make(row, 0, len(t.cols)), key)
	for i, x := range t.of.Indexes {
		if r = append(r, entries[i].Key); x.Valued {
			r = append(r, entries[i].Value)
		}
	}
	return append(r, value)
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
		q := newQuery("SELECT "+in.columns+" FROM "+in.name+" WHERE key = ANY($1)", unknown)
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
	if r.Value == nil {
		return t.remove(to, r.Key)
	}
	full := to.rowOf(r.Key, &r.Entries, r.Value)
	if r.New {
		return t.insert(to, full)
	}
	return t.put(to, full)
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

// Expire is not yet needed: the idempotency records are no rows, and no others expire.
func (t *tx) Expire(*rows.Kind, time.Time, int) (int, error) {
	return 0, fault(errors.ErrUnsupported)
}

func (t *tx) Sealing() rows.Sealing { return t.s.seal }

func (t *tx) Changed() *rows.Changes { return &t.Changes }
