package pgstore

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"teamdata/store/rows"
)

// kind is the type of a column. Values are in PostgreSQL's binary format, which
// keeps their order.
type kind struct {
	name string
	oid  uint32
}

var (
	textKind   = kind{name: "text", oid: 25}
	numberKind = kind{name: "bigint", oid: 20}
	bytesKind  = kind{name: "bytea", oid: 17}

	versionKind = kind{name: "xid", oid: 28} // of the column xmin
)

type column struct {
	name string
	kind
}

func text(name string) column   { return column{name, textKind} }
func number(name string) column { return column{name, numberKind} }
func blob(name string) column   { return column{name, bytesKind} }

// row is the values of a table's columns.
type row [][]byte

// table is a table whose rows an update reads and writes by their keys, the first
// column.
type table struct {
	place   int // in tables
	name    string
	cols    []column
	columns string     // all names, for a query
	of      *rows.Kind // nil: it has no rows of a kind
	entries []int      // of a kind: where the entry in each of its indexes stands
	last    string     // column by which the last one of several rows counts; empty: there is one for a key

	once sync.Once
	made statements
}

// statements are those that a table's columns make. To insert or upsert rows writes each
// of them or fails. An update would leave out those that are not there, and so lose what
// its caller is told is saved: it counts them, and fails as a number that is none would,
// before the commit that is sent with it. To remove what is not there is no fault.
type statements struct{ selectRow, insert, update, updateClaimed, upsert, remove string }

// shortUpdate begins the text of that failure.
const shortUpdate = "updated only "

var tables []*table

func define(name string, cols ...column) *table {
	t := &table{place: len(tables), name: name, cols: cols}
	for i, c := range cols {
		if i > 0 {
			t.columns += ", "
		}
		t.columns += c.name
	}
	tables = append(tables, t)
	return t
}

// keptTables are those that a database has, in which kinds that only a test made are not.
func keptTables() []*table {
	kept := rows.Kinds()
	return slices.DeleteFunc(slices.Clone(tables), func(t *table) bool { return t.of != nil && !slices.Contains(kept, t.of) })
}

// sql makes the statements with their first use: a server on a file starts without.
func (t *table) sql() *statements {
	t.once.Do(func() { t.made = t.statements() })
	return &t.made
}

func (t *table) statements() (s statements) {
	var arrays, set, changed []string
	for i, c := range t.cols {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, c.kind.name))
		if i > 0 {
			set = append(set, fmt.Sprintf("%s = excluded.%s", c.name, c.name))
			changed = append(changed, fmt.Sprintf("%s = changed.%s", c.name, c.name))
		}
	}
	key := t.cols[0].name
	s.selectRow = fmt.Sprintf("SELECT %s FROM %s WHERE %s = $1", t.columns, t.name, key)
	unique := key
	if t.last != "" {
		s.selectRow += " ORDER BY " + t.last + " DESC LIMIT 1"
		unique += ", " + t.last
	}
	then := "NOTHING"
	if len(set) > 0 {
		then = "UPDATE SET " + strings.Join(set, ", ")
	}
	s.insert = fmt.Sprintf("INSERT INTO %s (%s) SELECT * FROM unnest(%s)", t.name, t.columns, strings.Join(arrays, ", "))
	update := func(array, column, where string) string {
		return fmt.Sprintf("WITH done AS (UPDATE %[1]s t SET %[2]s FROM unnest(%[3]s) changed (%[4]s) WHERE t.%[8]s = changed.%[8]s%[5]s RETURNING 1) SELECT CASE WHEN count(*) = cardinality(%[6]s) THEN 0 ELSE ('%[7]s' || count(*) || ' of ' || cardinality(%[6]s) || ' rows of %[1]s')::bigint END FROM done",
			t.name, strings.Join(changed, ", "), strings.Join(arrays, ", ")+array, t.columns+column, where, arrays[0], shortUpdate, key)
	}
	s.update = update("", "", "")
	s.updateClaimed = update(fmt.Sprintf(", $%d::xid[]", len(t.cols)+1), ", version", " AND t.xmin = version")
	s.upsert = fmt.Sprintf("%s ON CONFLICT (%s) DO %s", s.insert, unique, then)
	s.remove = fmt.Sprintf("DELETE FROM %[1]s t USING unnest(%[2]s) gone (%[3]s) WHERE t.%[3]s = gone.%[3]s", t.name, arrays[0], key)
	return s
}

// plain replaces what no text of PostgreSQL can hold, a zero and what is not UTF-8,
// neither of which is in an id. A position between two ids stays there.
func plain(s string) []byte {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\x01")
	}
	return []byte(strings.ToValidUTF8(s, "\uFFFD"))
}

func bigint(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func unsigned(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func readBigint(b []byte) int64 { return int64(readUnsigned(b)) }

func readUnsigned(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

func readBool(b []byte) bool { return len(b) == 1 && b[0] == 1 }

func millis(t time.Time) []byte { return bigint(t.UnixMilli()) }

func readTime(b []byte) time.Time { return time.UnixMilli(readBigint(b)).UTC() }

// array is an array in binary format.
func array(of kind, n int, value func(i int) []byte) []byte {
	size := 20
	for i := range n {
		size += 4 + len(value(i))
	}
	b := make([]byte, 0, size)
	b = binary.BigEndian.AppendUint32(b, uint32(min(n, 1))) // dimensions
	b = binary.BigEndian.AppendUint32(b, 1)                 // there may be some that are null
	b = binary.BigEndian.AppendUint32(b, of.oid)
	if n == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	b = binary.BigEndian.AppendUint32(b, 1) // the first index
	for i := range n {
		b = appendValue(b, value(i))
	}
	return b
}

// appendValue appends a value behind its length. Nil is null.
func appendValue(b, value []byte) []byte {
	if value == nil {
		return binary.BigEndian.AppendUint32(b, math.MaxUint32)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}
