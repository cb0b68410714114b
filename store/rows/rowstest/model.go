// Package rowstest has what tests need of rows: a [Model] of an engine, on maps, and a
// suite of random steps that compares an engine with it.
package rowstest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"teamdata/store/rows"
)

// Chosen is what an engine chooses by itself, and a Model is told.
type Chosen interface {
	Now() time.Time
	NewID(prefix string) string
	Number(k *rows.Kind) uint64
}

// Model is an engine on maps, of one goroutine. Nothing in it is sealed.
type Model struct {
	Chosen
	tables  []*table // by the places of kinds
	changed rows.Changes
	tx      rows.Tx
	writing rows.Writing
	undo    []func()
}

// table is what a Model keeps of a kind. The first of its orders is that of the rows.
type table [1 + rows.MaxIndexes]map[string]entry

// entry is a row, or an entry of an index with the key of its row.
type entry struct {
	value []byte
	row   string
}

var _ rows.Rows = (*Model)(nil)

// NewModel makes a Model without rows.
func NewModel(c Chosen) *Model {
	m := &Model{Chosen: c}
	m.tx.On(m, &m.writing)
	return m
}

// Tx is a transaction on the Model.
func (m *Model) Tx() *rows.Tx { return &m.tx }

// Begin begins a transaction, which Undo undoes. The memory of the one before it is
// written into again: the Model keeps nothing of it.
func (m *Model) Begin() {
	m.writing.Reuse()
	changed := m.changed
	m.undo = append(m.undo[:0], func() { m.changed = changed })
}

// Undo undoes what was written since Begin.
func (m *Model) Undo() {
	for _, undo := range slices.Backward(m.undo) {
		undo()
	}
	m.undo = m.undo[:0]
}

func (m *Model) table(k *rows.Kind) *table {
	for len(m.tables) <= k.Place {
		m.tables = append(m.tables, nil)
	}
	if m.tables[k.Place] == nil {
		t := &table{}
		for i := range t {
			t[i] = map[string]entry{}
		}
		m.tables[k.Place] = t
	}
	return m.tables[k.Place]
}

// set sets or deletes what a map has, and keeps what was there.
func (m *Model) set(in map[string]entry, key string, e entry, there bool) {
	old, was := in[key]
	m.undo = append(m.undo, func() {
		if delete(in, key); was {
			in[key] = old
		}
	})
	if delete(in, key); there {
		in[key] = e
	}
}

// Get copies the value, as nobody may keep it.
func (m *Model) Get(k *rows.Kind, key []byte) ([]byte, error) {
	if e, ok := m.table(k)[0][string(key)]; ok {
		return append([]byte{}, e.value...), nil
	}
	return nil, nil
}

// Gets is Get, one by one.
func (m *Model) Gets(k *rows.Kind, keys [][]byte, fn func(i int, value []byte) error) error {
	for i, key := range keys {
		if value, _ := m.Get(k, key); value != nil {
			if err := fn(i, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write panics where a promise is broken.
func (m *Model) Write(k *rows.Kind, r *rows.Row) error {
	t, key := m.table(k), string(r.Key)
	old, there := t[0][key]
	if r.New && there || r.Was != nil && !(there && bytes.Equal(r.Was, old.value)) {
		panic(fmt.Sprintf("a row of %s %q is written as if it were not %q", k.Name, key, old.value))
	}
	if there && k.Span > 0 && r.Value != nil {
		if at, err := k.At(old.value); err != nil || rows.Partition(k, at) >= rows.Partition(k, r.At) {
			panic(fmt.Sprintf("a row of %s %q is written before another one expires: %v, %v", k.Name, key, at, err))
		}
	}
	if there {
		var e rows.Entries
		if k.Entries != nil {
			if err := k.Entries(&m.tx, r.Key, old.value, true, &e); err != nil {
				return err
			}
		}
		for i, was := range e {
			if was.Key != nil {
				m.set(t[1+i], string(was.Key), entry{}, false)
			}
		}
	}
	value := append([]byte{}, r.Value...)
	m.set(t[0], key, entry{value: value, row: key}, r.Value != nil)
	if r.Value == nil {
		return nil
	}
	for i, e := range r.Entries {
		if e.Key == nil {
			continue
		}
		if other, ok := t[1+i][string(e.Key)]; ok {
			panic(fmt.Sprintf("%s: the rows %q and %q have the same entry %q", k.Indexes[i].Own(), other.row, key, e.Key))
		}
		m.set(t[1+i], string(e.Key), entry{bytes.Clone(e.Value), key}, true)
	}
	return nil
}

// in are the items of a range, in its order, all of them.
func (m *Model) in(k *rows.Kind, r rows.Range) (items []rows.Item) {
	t := m.table(k)
	order := t[1+r.Index]
	for _, key := range slices.Sorted(maps.Keys(order)) {
		e := order[key]
		if key < string(r.From) || r.To != nil && key >= string(r.To) || r.Bare && e.value != nil {
			continue
		}
		item := rows.Item{Key: []byte(key), Value: e.value}
		if r.Records && r.Index != rows.ByKey {
			item.Record = t[0][e.row].value
		}
		items = append(items, item)
	}
	if r.Back {
		slices.Reverse(items)
	}
	return items
}

// limited cuts items off behind a limit; 0: none.
func limited(items []rows.Item, limit int) []rows.Item {
	if limit > 0 && len(items) > limit {
		return items[:limit]
	}
	return items
}

func (m *Model) Scan(k *rows.Kind, r rows.Range, fn func(rows.Item) bool) error {
	for _, item := range limited(m.in(k, r), r.Limit) {
		if !fn(item) {
			break
		}
	}
	return nil
}

func (m *Model) Ranges(k *rows.Kind, ranges []rows.Range, limit int, fn func(i int, item rows.Item) bool) error {
	n := 0
	for i, r := range ranges {
		for _, item := range limited(m.in(k, r), r.Limit) {
			if n++; limit > 0 && n > limit || !fn(i, item) {
				return nil
			}
		}
	}
	return nil
}

func (m *Model) Count(k *rows.Kind, ranges []rows.Range) (counts []int, err error) {
	for _, r := range ranges {
		counts = append(counts, len(limited(m.in(k, r), r.Limit)))
	}
	return counts, nil
}

func (m *Model) Merge(k *rows.Kind, ranges []rows.Range, skip, limit int, fn func(i int, item rows.Item) bool) error {
	type found struct {
		i    int
		item rows.Item
	}
	var all []found
	for i, r := range ranges {
		for _, item := range m.in(k, r) {
			all = append(all, found{i, item})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		n := bytes.Compare(a.item.Key[skip:], b.item.Key[skip:])
		if ranges[0].Back {
			n = -n
		}
		return n
	})
	for n, f := range all {
		if limit > 0 && n == limit || !fn(f.i, f.item) {
			break
		}
	}
	return nil
}

func (m *Model) Join(k *rows.Kind, r rows.Range, dst []byte) (rows.Joined, error) {
	all := m.in(k, r)
	items := limited(all, r.Limit)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item.Value...)
	}
	j := rows.Joined{Bytes: dst, Count: len(items), More: len(all) > len(items)}
	if len(items) > 0 {
		j.Last = items[len(items)-1].Key
	}
	return j, nil
}

func (m *Model) Last(k *rows.Kind, index int, prefix []byte) (last []byte, err error) {
	for key := range m.table(k)[1+index] {
		if strings.HasPrefix(key, string(prefix)) && key > string(last) {
			last = []byte(key)
		}
	}
	return last, nil
}

func (m *Model) Next(k *rows.Kind) (uint64, error) { return m.Number(k), nil }

// Expire drops nothing: rows that expire may stay.
func (m *Model) Expire(*rows.Kind, time.Time, int) (int, error) { return 0, nil }

func (m *Model) Sealing() rows.Sealing  { return rows.Sealing{} }
func (m *Model) Rewritable() int        { return 0 }
func (m *Model) Changed() *rows.Changes { return &m.changed }
