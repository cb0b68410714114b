package rows_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

func newTx() *rows.Tx { return rowstest.NewModel(nil).Tx() }

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// A record that waits, was tried and is in two lists; its name is not among what is read
// of it for its entries alone.
var waiting = rowstest.Job{ID: "a", Owner: "ada", Queue: 7, Due: at(20), TriedAt: at(10), Note: "n"}

func job(t *testing.T, tx *rows.Tx, id string) rowstest.Job {
	t.Helper()
	j, err := rowstest.Jobs.Find(tx, []byte(id))
	kit.Must(t, err)
	return j
}

// jobs are the ids in a list of queue 7, in its order.
func jobs(t *testing.T, tx *rows.Tx, list byte) (ids string) {
	t.Helper()
	index := 0
	if list == rowstest.Tried {
		index = 1
	}
	bounds := rows.Within(append(rows.Number(nil, 7), list))
	all, err := rowstest.Jobs.List(tx, rows.Range{Index: index, Bounds: bounds})
	kit.Must(t, err)
	for _, j := range all {
		ids += j.ID
	}
	return ids
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestPutAndFind(t *testing.T) {
	tx := newTx()
	_, err := rowstest.Jobs.Find(tx, []byte("a"))
	equal(t, "before", err, rows.ErrNone)
	kit.Must(t, rowstest.Jobs.Insert(tx, &waiting))
	equal(t, "what was inserted", job(t, tx, "a"), waiting)

	changed := waiting
	changed.Note = "changed"
	kit.Must(t, rowstest.Jobs.Put(tx, &changed))
	equal(t, "what was put", job(t, tx, "a"), changed)

	was, err := tx.Get(&rowstest.Jobs.Kind, []byte("a"))
	kit.Must(t, err)
	kit.Must(t, rowstest.Jobs.Replace(tx, &waiting, was))
	equal(t, "what replaced it", job(t, tx, "a"), waiting)
	equal(t, "and its entries", jobs(t, tx, rowstest.Waiting)+jobs(t, tx, rowstest.Tried), "aa")

	kit.Must(t, rowstest.Jobs.Remove(tx, []byte("a"), mustGet(t, tx, "a")))
	_, err = rowstest.Jobs.Find(tx, []byte("a"))
	equal(t, "after it was removed", err, rows.ErrNone)
	equal(t, "its entries then", jobs(t, tx, rowstest.Waiting)+jobs(t, tx, rowstest.Tried), "")
	kit.Must(t, rowstest.Jobs.Drop(tx, []byte("a")))
}

// TestFindAgain: what was read before is as it is now, also when it was written since, and
// another row is another record.
func TestFindAgain(t *testing.T) {
	tx := newTx()
	find := func(id string) (note string) {
		for range 2 {
			j, err := rowstest.Jobs.FindAgain(tx, []byte(id))
			if note = j.Note; err != nil {
				note = err.Error()
			}
		}
		return note
	}
	equal(t, "before", find("a"), rows.ErrNone.Error())
	other, changed := waiting, waiting
	other.ID, changed.Note = "b", "changed"
	kit.Must(t, errors.Join(rowstest.Jobs.Insert(tx, &waiting), rowstest.Jobs.Insert(tx, &other)))
	equal(t, "the first", find("a"), "n")
	j, err := rowstest.Jobs.FindAgain(tx, []byte("b"))
	kit.Must(t, err)
	equal(t, "another of the same value", j, other)
	equal(t, "the first again", find("a"), "n")
	kit.Must(t, rowstest.Jobs.Put(tx, &changed))
	equal(t, "what it was changed to", find("a"), "changed")
	kit.Must(t, rowstest.Jobs.Drop(tx, []byte("a")))
	equal(t, "after it was dropped", find("a"), rows.ErrNone.Error())
}

// TestFindBy finds the row of an entry, and no other that begins with its key.
func TestFindBy(t *testing.T) {
	tx := newTx()
	u := rowstest.User{Org: "o", ID: "u", Email: "ada@x", Password: "p"}
	kit.Must(t, rowstest.Users.Put(tx, &u))
	for key, want := range map[string]error{"ada@x": nil, "ada@": rows.ErrNone, "ada@xy": rows.ErrNone} {
		found, err := rowstest.Users.FindBy(tx, 0, []byte(key))
		equal(t, "finding "+key, err, want)
		if want == nil {
			equal(t, "found by "+key, found, u)
		}
	}
}

func mustGet(t *testing.T, tx *rows.Tx, id string) []byte {
	t.Helper()
	value, err := tx.Get(&rowstest.Jobs.Kind, []byte(id))
	kit.Must(t, err)
	return value
}

// TestPromises: the model refuses a write that promises what is not so.
func TestPromises(t *testing.T) {
	other := waiting
	other.ID = "b"
	for name, write := range map[string]func(tx *rows.Tx) error{
		"inserted, and there":     func(tx *rows.Tx) error { return rowstest.Jobs.Insert(tx, &waiting) },
		"replaced, and other":     func(tx *rows.Tx) error { return rowstest.Jobs.Replace(tx, &waiting, []byte("other")) },
		"replaced, and not there": func(tx *rows.Tx) error { return rowstest.Jobs.Replace(tx, &other, []byte{}) },
		"removed, and not there":  func(tx *rows.Tx) error { return rowstest.Jobs.Remove(tx, []byte("b"), []byte{}) },
		"two with one entry": func(tx *rows.Tx) error {
			u := rowstest.User{Org: "o", ID: "u", Email: "a@b"}
			v := rowstest.User{Org: "o", ID: "v", Email: "A@B"}
			return errors.Join(rowstest.Users.Put(tx, &u), rowstest.Users.Put(tx, &v))
		},
	} {
		t.Run(name, func(t *testing.T) {
			tx := newTx()
			kit.Must(t, rowstest.Jobs.Put(tx, &waiting))
			defer func() {
				if recover() == nil {
					t.Error("nothing is wrong with it")
				}
			}()
			t.Error(write(tx))
		})
	}
}

// TestEntriesMove: an entry that has another key moves, one that has none goes, and the
// others stay.
func TestEntriesMove(t *testing.T) {
	tx := newTx()
	for _, step := range []struct {
		change               func(j *rowstest.Job)
		waiting, done, tried string
	}{
		{func(j *rowstest.Job) {}, "ab", "", "a"},
		{func(j *rowstest.Job) { j.Note = "longer" }, "ab", "", "a"},
		{func(j *rowstest.Job) { j.Due = at(40) }, "ba", "", "a"},
		{func(j *rowstest.Job) { j.TriedAt = time.Time{} }, "ba", "", ""},
		{func(j *rowstest.Job) { j.TriedAt = at(50) }, "ba", "", "a"},
		{func(j *rowstest.Job) { j.Done = true }, "b", "a", ""},
		{func(j *rowstest.Job) { j.Queue = 8 }, "b", "", ""},
		{func(j *rowstest.Job) { j.Queue, j.Done = 7, false }, "ba", "", "a"},
	} {
		a, b := waiting, rowstest.Job{ID: "b", Queue: 7, Due: at(30)}
		if has, err := rowstest.Jobs.Has(tx, []byte("a")); has || err != nil {
			a = job(t, tx, "a")
		}
		step.change(&a)
		kit.Must(t, errors.Join(rowstest.Jobs.Put(tx, &a), rowstest.Jobs.Put(tx, &b)))
		equal(t, "waiting", jobs(t, tx, rowstest.Waiting), step.waiting)
		equal(t, "done", jobs(t, tx, rowstest.Done), step.done)
		equal(t, "tried", jobs(t, tx, rowstest.Tried), step.tried)
	}
}

// TestValuesOfEntries: an entry has the value that its index makes, an empty one is not a
// bare one, and keys alone are the same as those of the whole record.
func TestValuesOfEntries(t *testing.T) {
	done, untried := waiting, waiting
	done.Done, untried.TriedAt = true, time.Time{}
	for _, want := range []struct {
		job   rowstest.Job
		value []byte
	}{{waiting, rows.Number(nil, 10)}, {done, []byte{}}, {untried, nil}} {
		tx := newTx()
		kit.Must(t, rowstest.Jobs.Put(tx, &want.job))
		kit.Must(t, tx.Scan(&rowstest.Jobs.Kind, rows.Range{Index: 0}, func(item rows.Item) bool {
			equal(t, "value", item.Value, want.value)
			return true
		}))
		value := mustGet(t, tx, "a")
		var full, keys rows.Entries
		kit.Must(t, rowstest.Jobs.Entries(tx, []byte("a"), value, false, &full))
		kit.Must(t, rowstest.Jobs.Entries(tx, []byte("a"), value, true, &keys))
		equal(t, "value of the stored one", full[0].Value, want.value)
		for i := range full {
			equal(t, "key alone", keys[i].Key, full[i].Key)
			equal(t, "value of a key alone", keys[i].Value, []byte(nil))
		}
	}
}

// TestDamagedEntries: what can't be read has none.
func TestDamagedEntries(t *testing.T) {
	tx := newTx()
	value := rows.Encode(rowstest.Jobs.Fields, waiting)
	var e rows.Entries
	for _, damaged := range [][]byte{value[:2], append(slices.Clone(value), 1)} {
		equal(t, "an error", rowstest.Jobs.Entries(tx, []byte("a"), damaged, false, &e), rows.ErrRecord)
	}
	equal(t, "an error of the head", rowstest.Jobs.Entries(tx, []byte("a"), value[:2], true, &e), rows.ErrRecord)
	_, err := rowstest.Jobs.Read([]byte("a"), value[:2])
	equal(t, "an error of reading", err, rows.ErrRecord)
}

// TestScratchIsZero: of a record that is read for its entries nothing is left in the next.
func TestScratchIsZero(t *testing.T) {
	tx := newTx()
	short := rows.Encode(rowstest.Jobs.Fields, rowstest.Job{Queue: 7, Due: at(5)})
	short = short[:len(short)-1] // an older record, without a note
	for _, keysOnly := range []bool{true, false} {
		var e rows.Entries
		kit.Must(t, rowstest.Jobs.Entries(tx, []byte("a"), rows.Encode(rowstest.Jobs.Fields, waiting), keysOnly, &e))
		kit.Must(t, rowstest.Jobs.Entries(tx, []byte("b"), short, keysOnly, &e))
		equal(t, "tried", e[1].Key, []byte(nil))
		if !bytes.HasSuffix(e[0].Key, []byte("b")) {
			t.Errorf("the entry %q is of another row", e[0].Key)
		}
	}
}

// TestList: records come by key or by index, in its order, and up to a limit.
func TestList(t *testing.T) {
	tx := newTx()
	for _, name := range []string{"1Eva", "2Bob", "3Ada", "4Bob"} {
		kit.Must(t, rowstest.Users.Put(tx, &rowstest.User{Org: "o", ID: name[:1], Name: name[1:], Email: name + "@b"}))
	}
	kit.Must(t, rowstest.Users.Put(tx, &rowstest.User{Org: "p", ID: "5", Name: "Bob"}))
	for _, want := range []struct {
		r   rows.Range
		ids string
	}{
		{rows.Range{Index: rows.ByKey}, "12345"},
		{rows.Range{Index: rows.ByKey, Bounds: rows.Below("o", "")}, "1234"},
		{rows.Range{Index: rows.ByKey, Bounds: rows.Below("o", "2"), Limit: 1}, "3"},
		{rows.Range{Index: rows.ByKey, Bounds: rows.Below("o", "2"), Back: true}, "43"},
		{rows.Range{Index: 0}, "1234"},
		{rows.Range{Index: 0, Back: true, Limit: 2}, "43"},
		{rows.Range{Index: 1}, "32451"},
		{rows.Range{Index: 1, Bounds: rows.Within(rows.Part(nil, "Bob")), Limit: 2}, "24"},
		{rows.Range{Index: 1, Bounds: rows.Bounds{From: []byte("Bob"), To: []byte("Bob")}}, ""},
	} {
		all, err := rowstest.Users.List(tx, want.r)
		kit.Must(t, err)
		var ids string
		for _, u := range all {
			ids += u.ID
		}
		equal(t, "list", ids, want.ids)
	}
	n, err := rowstest.Users.DropFirst(tx, rows.Below("o", "1"), 2)
	kit.Must(t, err)
	left, err := rows.Keys(tx, &rowstest.Users.Kind, rows.Range{Index: rows.ByKey})
	kit.Must(t, err)
	equal(t, "dropped", n, 2)
	equal(t, "left", string(bytes.Join(left, []byte(" "))), "o\x001 o\x004 p\x005")
}

// TestListStopsAtDamage: a record that can't be read is an error of the list.
func TestListStopsAtDamage(t *testing.T) {
	tx := newTx()
	kit.Must(t, tx.Write(&rowstest.Jobs.Kind, &rows.Row{Key: []byte("a"), Value: []byte{9}}))
	_, err := rowstest.Jobs.List(tx, rows.Range{Index: rows.ByKey})
	equal(t, "damaged", errors.Is(err, rows.ErrRecord), true)
}

// sealed is a Model whose secrets are sealed.
type sealed struct{ *rowstest.Model }

func (sealed) Sealing() rows.Sealing { return rows.Sealing{Sealer: reverse{}} }

// reverse seals by turning a text around, with its place behind.
type reverse struct{}

func (reverse) Seal(plain, place []byte) []byte {
	turned := slices.Clone(plain)
	slices.Reverse(turned)
	return append(append(turned, '@'), place...)
}

func (reverse) Open(sealed, place []byte) ([]byte, error) {
	text, ok := bytes.CutSuffix(sealed, append([]byte{'@'}, place...))
	if !ok {
		return nil, errors.New("sealed elsewhere")
	}
	plain := slices.Clone(text)
	slices.Reverse(plain)
	return plain, nil
}

// TestSecrets: they are sealed where they are kept, for their place alone; the caller's
// record stays as it is, and an empty one stays empty.
func TestSecrets(t *testing.T) {
	var tx rows.Tx
	tx.On(sealed{rowstest.NewModel(nil)}, &rows.Writing{})
	u := rowstest.User{Org: "o", ID: "u", Name: "Ada", Email: "Ada@b", Password: "word"}
	before, key := u, []byte("o\x00u")
	kit.Must(t, rowstest.Users.Put(&tx, &u))
	equal(t, "the caller's record", u, before)
	value, err := tx.Get(&rowstest.Users.Kind, key)
	kit.Must(t, err)
	kept, err := rowstest.Users.Read(key, value)
	kit.Must(t, err)
	equal(t, "kept", kept.Password, "drow@testUsers\x00o\x00u\x00password")
	equal(t, "an empty one", kept.Token, "")
	found, err := rowstest.Users.Find(&tx, key)
	kit.Must(t, err)
	equal(t, "found", found, u)
	for index := range 2 {
		list, err := rowstest.Users.List(&tx, rows.Range{Index: index})
		kit.Must(t, err)
		equal(t, "listed", list, []rowstest.User{u})
	}
	again, err := rowstest.Users.Seal(tx.Sealing(), key, rows.Encode(rowstest.Users.Fields, u))
	kit.Must(t, err)
	equal(t, "sealed later", string(again), string(value))

	kit.Must(t, tx.Write(&rowstest.Users.Kind, &rows.Row{Key: []byte("o\x00v"), Value: value}))
	if _, err := rowstest.Users.Find(&tx, []byte("o\x00v")); !errors.Is(err, rows.ErrRecord) || !strings.Contains(err.Error(), "testUsers") {
		t.Errorf("under another key it is read: %v", err)
	}
}

// TestNewTable: kinds have places of their own, and those of tests are not kept.
func TestNewTable(t *testing.T) {
	places := map[int]bool{}
	for _, k := range rowstest.Kinds {
		if places[k.Place] = true; k.Place >= rows.Places() || slices.Contains(rows.Kinds(), k) {
			t.Errorf("%s has the place %d of %d, or is kept", k.Name, k.Place, rows.Places())
		}
	}
	equal(t, "places", len(places), len(rowstest.Kinds))
	equal(t, "valued", rowstest.Jobs.Indexes[0].Valued && !rowstest.Jobs.Indexes[1].Valued, true)
	equal(t, "own names", rowstest.Jobs.Indexes[1].Own()+" "+rowstest.Users.Indexes[1].Own(), "testJobTried testUserNames")
	defer func() {
		if recover() == nil {
			t.Error("a table may have five indexes")
		}
	}()
	rows.New(&rows.Table[int]{By: make([]rows.By[int], rows.MaxIndexes+1)})
}
