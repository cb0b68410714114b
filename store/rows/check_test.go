package rows_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

// checked are what a check of some kinds finds.
func checked(t *testing.T, tx *rows.Tx, kinds ...*rows.Kind) (faults []string) {
	t.Helper()
	c := &rows.Checker{Tx: tx, Found: func(fault string) { faults = append(faults, fault) }}
	c.Walk = func(k *rows.Kind, fn func(key, value []byte, compare func(*rows.Entries))) error {
		return tx.Scan(k, rows.Range{Index: rows.ByKey}, func(row rows.Item) bool {
			fn(row.Key, row.Value, func(want *rows.Entries) {
				if has := entriesOf(t, tx, k, row.Key); fmt.Sprintf("%q", has) != fmt.Sprintf("%q", want) {
					c.Fault("%s %q: its entries are not as they should be", k.Name, row.Key)
				}
			})
			return true
		})
	}
	kit.Must(t, c.All(kinds))
	return faults
}

// entriesOf are the entries that say that they belong to a row.
func entriesOf(t *testing.T, tx *rows.Tx, k *rows.Kind, key []byte) *rows.Entries {
	t.Helper()
	var e rows.Entries
	for i := range k.Indexes {
		kit.Must(t, tx.Scan(k, rows.Range{Index: i}, func(item rows.Item) bool {
			if string(k.Indexes[i].Record(nil, item.Key, item.Value)) == string(key) {
				e[i] = rows.Entry{Key: slices.Clone(item.Key), Value: slices.Clone(item.Value)}
			}
			return true
		}))
	}
	return &e
}

// rowOf is the row of a record, with its entries.
func rowOf(t *testing.T, j rowstest.Job) *rows.Row {
	t.Helper()
	r := &rows.Row{Key: []byte(j.ID), Value: rows.Encode(rowstest.Jobs.Fields, j)}
	kit.Must(t, rowstest.Jobs.Entries(newTx(), r.Key, r.Value, false, &r.Entries))
	return r
}

// TestCheckNamesDamage: each kind of damage is named, with the row that has it, and the
// rows beside it are not.
func TestCheckNamesDamage(t *testing.T) {
	entries := `testJobs "a": its entries are not as they should be`
	for _, test := range []struct {
		damage func(r *rows.Row)
		found  string
	}{
		{func(r *rows.Row) {}, ""},
		{func(r *rows.Row) { r.Value = r.Value[:3] }, `testJobs "a": the record is damaged`},
		{func(r *rows.Row) { r.Value = rows.Encode(rowstest.Jobs.Fields, rowstest.Job{}) }, entries},
		{func(r *rows.Row) { r.Entries[0].Key[0]++ }, entries},
		{func(r *rows.Row) { r.Entries[0].Value = nil }, entries},
		{func(r *rows.Row) { r.Entries[1] = rows.Entry{} }, entries},
		{func(r *rows.Row) { r.Entries[1].Value = []byte("1") }, entries},
		{func(r *rows.Row) { r.Key = []byte("x") }, strings.ReplaceAll(entries, `"a"`, `"x"`)},
	} {
		tx := newTx()
		beside := waiting
		beside.ID = "b"
		kit.Must(t, rowstest.Jobs.Put(tx, &beside))
		r := rowOf(t, waiting)
		test.damage(r)
		kit.Must(t, tx.Write(&rowstest.Jobs.Kind, r))
		if got := strings.Join(checked(t, tx, &rowstest.Jobs.Kind), "; "); got != test.found {
			t.Errorf("found %q, not %q", got, test.found)
		}
	}
}

type reference struct{ ID, To string }

// references refer to jobs; their keys are in their values.
var references = rows.New(&rows.Table[reference]{
	Kind: rows.Kind{Name: "testReferences"},
	Key:  func(dst []byte, r *reference) []byte { return append(dst, r.ID...) },
	Fields: func(c *rows.Codec, r *reference) {
		c.Text(&r.ID)
		c.Text(&r.To)
	},
	Checks: func(c *rows.Checker, key []byte, r *reference) {
		c.Look(&rowstest.Jobs.Kind, []byte(r.To), func(value []byte) {
			if _, err := rowstest.Jobs.Read([]byte(r.To), value); value == nil {
				c.Fault("testReferences %q: there is no job %s", r.ID, r.To)
			} else if err != nil || len(value) == 0 {
				c.Fault("testReferences %q: the job %s is not what is kept", r.ID, r.To)
			}
		})
	},
})

// TestCheckOwnKeyAndReferences: a key is its record's, and what a record refers to is
// there, of which many are looked at at once.
func TestCheckOwnKeyAndReferences(t *testing.T) {
	tx := newTx()
	kit.Must(t, rowstest.Jobs.Put(tx, &waiting))
	for i := range 1203 {
		r := reference{fmt.Sprintf("%04d", i), "a"}
		if i%400 == 2 {
			r.To = "gone"
		}
		kit.Must(t, references.Put(tx, &r))
	}
	kit.Must(t, tx.Write(&references.Kind, &rows.Row{Key: []byte("x"), Value: rows.Encode(references.Fields, reference{"y", "a"})}))
	got := checked(t, tx, &references.Kind, &rowstest.Jobs.Kind)
	slices.Sort(got)
	want := `testReferences "0002": there is no job gone; testReferences "0402": there is no job gone; testReferences "0802": there is no job gone; ` +
		`testReferences "1202": there is no job gone; testReferences "x": the record is that of "y"`
	if joined := strings.Join(got, "; "); joined != want {
		t.Errorf("found %q", joined)
	}
}

// TestCheckStops: after an error of the engine nothing is found, and it is returned.
func TestCheckStops(t *testing.T) {
	failed := errors.New("the engine has failed")
	walks := 0
	c := &rows.Checker{Tx: newTx(), Found: func(fault string) { t.Error(fault) }}
	c.Walk = func(*rows.Kind, func(key, value []byte, compare func(*rows.Entries))) error {
		walks++
		return failed
	}
	if err := c.All(rowstest.Kinds); err != failed || walks != 1 {
		t.Errorf("%d kinds are walked, and it returns %v", walks, err)
	}
}
