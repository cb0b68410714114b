package rows

import (
	"errors"
	"slices"
	"strings"
)

// ErrNone is the error about a row that is not there. Package store has words for it.
var ErrNone = errors.New("there is no such row")

// Table is how the records of a noun are kept: a row each, with entries in indexes.
type Table[T any] struct {
	Kind

	Key      func(dst []byte, v *T) []byte // appends the key of a record
	Fields   func(c *Codec, v *T)          // in their order; new ones go to the end
	Complete func(key []byte, v *T)        // adds what the key says and the value leaves out; nil: nothing
	Head     func(c *Codec, v *T)          // the first of them, as far as the keys of entries need them, read without texts; nil: all
	Secrets  func(v *T) []Secret           // the fields that are sealed; nil: none
	Owner    func(v *T) Owner              // whose a record is, if its key doesn't say so
	Only     func(v *T) T                  // what of a record others may find; nil: nothing
	By       []By[T]
	Checks   func(c *Checker, key []byte, v *T) // what else holds of a record; nil: nothing
}

// By is an index of a Table.
type By[T any] struct {
	Index
	Key   func(dst []byte, v *T) []byte // appends the key of a record's entry; nothing: it has none
	Value func(dst []byte, v *T) []byte // appends its value; nil: it is bare, as is one whose value is nil
}

// kinds are those that are kept, in the order of their places.
var kinds []*Kind

// places is how many kinds were made.
var places int

// Places is how many kinds there are: each one's Place is below.
func Places() int { return places }

// Kinds are the kinds that are kept, in order of their names, which is that of a dump.
func Kinds() []*Kind {
	return slices.SortedFunc(slices.Values(kinds), func(a, b *Kind) int { return strings.Compare(a.Name, b.Name) })
}

// Named is the kind that is kept under a name; nil: none.
func Named(name string) *Kind {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return kinds[i]
}

// Define makes the Table of a noun that is kept.
func Define[T any](t *Table[T]) *Table[T] {
	New(t)
	kinds = append(kinds, &t.Kind)
	return t
}

// New makes a Table that is not among Kinds, as for a test.
func New[T any](t *Table[T]) *Table[T] {
	t.Place = places
	places++
	for i := range t.By {
		by := &t.By[i]
		by.Valued = by.Value != nil
		t.Indexes = append(t.Indexes, by.Index)
	}
	if len(t.Indexes) > MaxIndexes {
		panic("rows: " + t.Name + " has too many indexes")
	}
	if t.Entries == nil && len(t.By) > 0 {
		t.Entries = t.entriesOf
	}
	if t.Secrets != nil {
		t.Kind.Seal = t.sealed
	}
	if t.Owner != nil {
		t.Kind.Owner = func(key, value []byte) (Owner, bool) {
			v, err := t.read(key, value)
			return t.Owner(v), value != nil && err == nil
		}
	}
	if t.Only != nil {
		t.Kind.Only = func(key, value []byte) []byte {
			v, _ := t.read(key, value)
			return Encode(t.Fields, t.Only(v))
		}
	}
	t.Records = records[T]{t}
	if t.Kind.Check == nil {
		t.Kind.Check = t.check
	}
	return t
}

// records are those of a table as Records.
type records[T any] struct{ *Table[T] }

func (r records[T]) New() any                 { return new(T) }
func (r records[T]) Encode(record any) []byte { return Encode(r.Fields, *record.(*T)) }

func (r records[T]) Decode(value []byte) (any, error) {
	record, err := Decode(value, r.Fields)
	return &record, err
}

func (r records[T]) Open(tx *Tx, key, value []byte) (any, error) { return r.Table.Open(tx, key, value) }

// Find reads the record under a key, with its secrets opened. ErrNone: it doesn't exist.
func (t *Table[T]) Find(tx *Tx, key []byte) (v T, err error) {
	value, err := t.value(tx, key)
	if err != nil {
		return v, err
	}
	return t.Open(tx, key, value)
}

// value returns what is stored under a key. ErrNone: there is nothing.
func (t *Table[T]) value(tx *Tx, key []byte) ([]byte, error) {
	value, err := tx.Get(&t.Kind, key)
	if err == nil && value == nil {
		err = ErrNone
	}
	return value, err
}

// FindAgain is Find for what those who write read again and again: it is decoded once, as
// long as the stored value stays the same.
func (t *Table[T]) FindAgain(tx *Tx, key []byte) (v T, err error) {
	if tx.writing == nil {
		return t.Find(tx, key)
	}
	value, err := t.value(tx, key)
	if err != nil {
		return v, err
	}
	last := at[readRecord[T]](&tx.writing.again, t.Place)
	if last.value != "" && last.key == string(key) && last.value == string(value) {
		return last.record, nil
	}
	if v, err = t.Open(tx, key, value); err == nil {
		*last = readRecord[T]{string(key), string(value), v}
	}
	return v, err
}

// Has reports whether there is a row under a key.
func (t *Table[T]) Has(tx *Tx, key []byte) (bool, error) {
	value, err := tx.Get(&t.Kind, key)
	return value != nil, err
}

// FindBy reads the record whose entry in an index has a key, with its secrets opened. The
// index says whose its entries are. ErrNone: it doesn't exist.
func (t *Table[T]) FindBy(tx *Tx, index int, key []byte) (v T, err error) {
	err = ErrNone
	r := Range{Index: index, Bounds: Only(string(key)), Limit: 1, Records: true}
	failed := tx.Scan(&t.Kind, r, func(item Item) bool {
		v, err = t.Open(tx, t.Indexes[index].Record(nil, item.Key, item.Value), item.Record)
		return false
	})
	if failed != nil {
		err = failed
	}
	return v, err
}

// Open reads a stored value, with its secrets opened.
func (t *Table[T]) Open(tx *Tx, key, value []byte) (T, error) {
	v, err := t.read(key, value)
	if err == nil && t.Secrets != nil {
		err = tx.Sealing().OpenFields([]byte(t.Name), key, t.Secrets(v))
	}
	return *v, err
}

// Read reads a stored value, and leaves its secrets sealed. The record shares no memory
// with it.
func (t *Table[T]) Read(key, value []byte) (T, error) {
	v, err := t.read(key, value)
	return *v, err
}

// read is Read without a copy of what it made.
func (t *Table[T]) read(key, value []byte) (*T, error) {
	v, err := decode(value, t.Fields)
	if t.Complete != nil {
		t.Complete(key, v)
	}
	return v, err
}

// Put adds or replaces a record.
func (t *Table[T]) Put(tx *Tx, v *T) error { return t.write(tx, v, false, nil) }

// Insert adds a record under a key that nothing is under.
func (t *Table[T]) Insert(tx *Tx, v *T) error { return t.write(tx, v, true, nil) }

// Replace replaces a record whose stored value was read in this transaction.
func (t *Table[T]) Replace(tx *Tx, v *T, was []byte) error { return t.write(tx, v, false, was) }

func (t *Table[T]) write(tx *Tx, v *T, unused bool, was []byte) error {
	w := tx.write()
	r := &w.row
	*r = Row{New: unused, Was: was}
	r.Key = w.keep(t.Key(w.free(), v))
	if t.Secrets != nil && tx.Sealing().On() {
		sealed := *v
		tx.Sealing().SealFields([]byte(t.Name), r.Key, t.Secrets(&sealed))
		v = &sealed
	}
	r.Value = w.encode(func(c *Codec) { t.Fields(c, v) })
	if t.Span > 0 {
		var err error
		if r.At, err = t.At(r.Value); err != nil {
			return err
		}
	}
	t.entries(tx, v, false, &r.Entries)
	return tx.Write(&t.Kind, r)
}

// Drop deletes the row under a key, if there is one.
func (t *Table[T]) Drop(tx *Tx, key []byte) error { return t.Remove(tx, key, nil) }

// Remove deletes the row of a value that was read in this transaction.
func (t *Table[T]) Remove(tx *Tx, key, was []byte) error {
	w := tx.write()
	w.row = Row{Was: was}
	w.row.Key = w.keep(append(w.free(), key...))
	return tx.Write(&t.Kind, &w.row)
}

// List reads the records in a range: by their keys, or with an index.
func (t *Table[T]) List(tx *Tx, r Range) (list []T, err error) {
	var key []byte
	r.Records = r.Index != ByKey
	read := func(item Item) bool {
		value := item.Value
		if key = append(key[:0], item.Key...); r.Records {
			key, value = t.Indexes[r.Index].Record(key[:0], item.Key, item.Value), item.Record
		}
		var v T
		if v, err = t.Open(tx, key, value); err == nil {
			list = append(list, v)
		}
		return err == nil
	}
	return list, errors.Join(tx.Scan(&t.Kind, r, read), err)
}

// Keys returns the keys in a range, of rows or of entries.
func Keys(tx *Tx, k *Kind, r Range) (keys [][]byte, err error) {
	err = tx.Scan(k, r, func(item Item) bool {
		keys = append(keys, slices.Clone(item.Key))
		return true
	})
	return keys, err
}

// DropFirst drops up to limit rows from the start of a range of keys, and returns how many
// they are.
func (t *Table[T]) DropFirst(tx *Tx, b Bounds, limit int) (int, error) {
	keys, err := Keys(tx, &t.Kind, Range{Index: ByKey, Bounds: b, Limit: limit})
	for _, key := range keys {
		if err == nil {
			err = t.Drop(tx, key)
		}
	}
	return len(keys), err
}

// entriesOf are the entries of a stored value: of a scratch record that has as much of it
// as they need.
func (t *Table[T]) entriesOf(tx *Tx, key, value []byte, keysOnly bool, e *Entries) error {
	v, err := t.readScratch(tx, value, keysOnly && t.Head != nil)
	if err != nil {
		return err
	}
	if t.Complete != nil {
		t.Complete(key, v)
	}
	t.entries(tx, v, keysOnly, e)
	return nil
}

// ReadHead reads a stored value as far as the table's Head does, into a record that is
// valid until the next one is read.
func (t *Table[T]) ReadHead(tx *Tx, value []byte) (*T, error) { return t.readScratch(tx, value, true) }

// readScratch reads a stored value, or its head, into the scratch record.
func (t *Table[T]) readScratch(tx *Tx, value []byte, head bool) (*T, error) {
	w := tx.write()
	v := scratch[T](w, t.Place)
	if head {
		w.codec = HeadOf(value)
		t.Head(&w.codec, v)
		return v, w.codec.Err()
	}
	w.codec = Codec{buf: value, record: value, reading: true}
	if t.Fields(&w.codec, v); len(w.codec.buf) > 0 {
		return v, ErrRecord
	}
	return v, w.codec.Err()
}

func (t *Table[T]) entries(tx *Tx, v *T, keysOnly bool, e *Entries) {
	w := tx.write()
	for i := range t.By {
		by := &t.By[i]
		e[i] = Entry{}
		key := by.Key(w.free(), v)
		if len(key) == 0 {
			continue
		}
		if e[i].Key = w.keep(key); by.Value == nil || keysOnly {
			continue
		}
		if value := by.Value(w.free(), v); value != nil {
			e[i].Value = w.keep(value)
		}
	}
}

// sealed is a stored value in plain text, sealed.
func (t *Table[T]) sealed(s Sealing, key, value []byte) ([]byte, error) {
	v, err := t.Read(key, value)
	if err != nil {
		return nil, err
	}
	s.SealFields([]byte(t.Name), key, t.Secrets(&v))
	return Encode(t.Fields, v), nil
}
