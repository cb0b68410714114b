package pgstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/engine"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

// visit is what the kind of these tests keeps: an entry in a list, perhaps with a value,
// and perhaps another one.
type visit struct {
	id, list string
	at       uint64 // 0: there is no value in the list
	name     string // empty: it is not among the names
}

var visits = rows.New(&rows.Table[visit]{
	Kind: rows.Kind{Name: "testVisits", Noun: "visit", Numbers: true},
	Key:  func(dst []byte, v *visit) []byte { return append(dst, v.id...) },
	Fields: func(c *rows.Codec, v *visit) {
		c.Text(&v.id)
		c.Text(&v.list)
		c.Number(&v.at)
		c.Text(&v.name)
	},
	By: []rows.By[visit]{
		{
			Index: rows.Index{Name: "visitList", Record: rows.Behind},
			Key:   func(dst []byte, v *visit) []byte { return rows.Pair(dst, v.list, v.id) },
			Value: func(dst []byte, v *visit) []byte {
				if v.at == 0 {
					return nil
				}
				return rows.Number(dst, v.at)[:8*(v.at%2)] // some are empty
			},
		},
		{Index: rows.Index{Name: "visitNames"}, Key: func(dst []byte, v *visit) []byte { return append(dst, v.name...) }},
	},
})

func init() { kindTables = defineKinds(kindTables, &visits.Kind) }

// sqlOf makes the table of a kind.
func sqlOf(k *rows.Kind) string {
	t := tableOf(k)
	sql := "CREATE TABLE " + t.name + " (key bytea PRIMARY KEY"
	indexes := ""
	for _, c := range t.cols[1 : len(t.cols)-1] {
		sql += ", " + c.name + " bytea"
	}
	for i := range k.Indexes {
		column := t.ordered(i)
		indexes += fmt.Sprintf("CREATE UNIQUE INDEX %[1]s_%[2]s ON %[1]s (%[2]s) WHERE %[2]s IS NOT NULL;", t.name, column)
	}
	if k.Numbers {
		indexes += "CREATE SEQUENCE " + t.name + "_numbers;"
	}
	return sql + ", value bytea NOT NULL);" + indexes
}

// chosen are the numbers of a model.
type chosen uint64

func (c *chosen) Now() time.Time             { return time.Time{} }
func (c *chosen) NewID(prefix string) string { return prefix }
func (c *chosen) Number(*rows.Kind) uint64   { *c++; return uint64(*c) }

// trace asks for the visits in all ways.
func trace(r rows.Rows) string {
	var b strings.Builder
	k := &visits.Kind
	show := func(i int, item rows.Item) bool {
		fmt.Fprintf(&b, "  %d: %q %q %t %q\n", i, item.Key, item.Value, item.Value == nil, item.Record)
		return true
	}
	bounds := []rows.Bounds{{}, {From: []byte("b")}, {From: []byte("a\x00v2"), To: []byte("b\x00v7")}, rows.Within([]byte("v")), {From: []byte("z"), To: []byte("a")}}
	for index := rows.ByKey; index < len(k.Indexes); index++ {
		var ranges []rows.Range
		for _, of := range bounds {
			for n := range 16 {
				flag := func(bit int) bool { return n&bit > 0 }
				entries := index != rows.ByKey
				one := rows.Range{Index: index, Bounds: of, Back: flag(1), Limit: n & 2, Records: entries && flag(4), Bare: entries && flag(8)}
				fmt.Fprintln(&b, one, r.Scan(k, one, func(item rows.Item) bool { return show(0, item) }))
				joined, err := r.Join(k, one, []byte("->"))
				fmt.Fprintf(&b, "  joined: %q %d %q %t %v\n", joined.Bytes, joined.Count, joined.Last, joined.More, err)
				ranges = append(ranges, one)
			}
		}
		fmt.Fprintln(&b, "ranges", r.Ranges(k, ranges, show))
		for _, prefix := range []string{"", "a", "b\x00", "v1", "z"} {
			last, err := r.Last(k, index, []byte(prefix))
			fmt.Fprintf(&b, "last: %q %v\n", last, err)
		}
	}
	for n := range 16 {
		var ranges []rows.Range
		for _, list := range []string{"b", "none", "a", "c"} {
			of := rows.Within([]byte(list + "\x00"))
			if list == "c" && n&2 > 0 {
				of.To = nil // it is the last one
			}
			ranges = append(ranges, rows.Range{Bounds: of, Back: n&1 > 0, Records: n&4 > 0, Bare: n&8 > 0})
		}
		for _, limit := range []int{0, 1, 3} {
			fmt.Fprintln(&b, "merged", r.Merge(k, ranges, len("a\x00"), limit, show))
		}
	}
	keys := [][]byte{[]byte("v5"), []byte("none"), []byte("v1"), []byte("v5"), []byte("v3"), []byte("")}
	fmt.Fprintln(&b, "got", r.Gets(k, keys, func(i int, value []byte) error {
		show(i, rows.Item{Value: value})
		return nil
	}))
	for _, key := range keys {
		value, err := r.Get(k, key)
		fmt.Fprintf(&b, "get: %q %t %v\n", value, value == nil, err)
	}
	return b.String()
}

// Whatever a transaction asks of rows, it is told what the model is: behind a commit, of
// rows that are not sent yet, and once a transaction has failed that sent some of its own.
func TestRows(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	s := opened(t, database)
	defer s.Close()
	postgres.Exec(t, database, sqlOf(&visits.Kind))
	model := rowstest.NewModel(new(chosen))
	same := func(r rows.Rows) {
		t.Helper()
		got, want := strings.Split(trace(r), "\n"), strings.Split(trace(model), "\n")
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("line %d is\n%s\nand not\n%s", i, got[i], want[i])
			}
		}
	}
	both := func(tx *tx, do func(*rows.Tx) error) {
		t.Helper()
		kit.Must(t, errors.Join(do(tx.Nouns.Tx), do(model.Tx())))
	}
	put := func(v visit) func(*rows.Tx) error {
		return func(tx *rows.Tx) error { return visits.Put(tx, &v) }
	}
	failed := errors.New("failed")
	updates := []func(*tx) error{
		func(tx *tx) error {
			for i := range 9 {
				v := visit{fmt.Sprint("v", i), "abc"[i%3:][:1], uint64(i % 4), strings.Repeat("v", i%3)}
				if v.name != "" {
					v.name += v.id
				}
				both(tx, func(tx *rows.Tx) error { return visits.Insert(tx, &v) })
			}
			return nil
		},
		func(tx *tx) error {
			same(tx)
			both(tx, put(visit{id: "v1", list: "c", at: 7}))
			both(tx, put(visit{id: "v3", list: "a", at: 2, name: "b"}))
			both(tx, func(tx *rows.Tx) error { return visits.Drop(tx, []byte("v5")) })
			same(tx)
			return nil
		},
		func(tx *tx) error {
			both(tx, put(visit{id: "v5", list: "a", at: 1, name: "z"}))
			same(tx)
			both(tx, put(visit{id: "v3", list: "b"}))
			both(tx, func(tx *rows.Tx) error { return visits.Drop(tx, []byte("v1")) })
			same(tx)
			return failed
		},
		func(tx *tx) error {
			same(tx)
			both(tx, put(visit{id: "v2", list: "b", name: "v2"}))
			return nil
		},
	}
	for _, together := range []int{len(updates), 1} { // in one commit, and in one each
		for some := range slices.Chunk(updates, together) {
			var group []*engine.Update
			for _, fn := range some {
				group = append(group, &engine.Update{Ctx: bg, Scope: store.All, Fn: func(run store.Tx) error {
					model.Begin()
					err := fn(run.(*tx))
					if err != nil {
						model.Undo()
					}
					return err
				}})
			}
			s.commit(group)
			for i, u := range group {
				if u.Err != nil && u.Err != failed {
					t.Fatal(i, u.Err)
				}
			}
		}
		kit.Must(t, s.view(bg, func(tx *tx) error {
			same(tx)
			return nil
		}))
		kit.Must(t, s.Update(bg, store.All, func(run store.Tx) error {
			for i := range 9 {
				both(run.(*tx), func(tx *rows.Tx) error { return visits.Drop(tx, fmt.Append(nil, "v", i)) })
			}
			return nil
		}))
	}
}

// Numbers are given once, also if a transaction fails.
func TestNumbers(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	s := opened(t, database)
	defer s.Close()
	postgres.Exec(t, database, sqlOf(&visits.Kind))
	failed := errors.New("failed")
	for _, want := range []uint64{1, 2, 3} {
		err := s.Update(bg, store.All, func(run store.Tx) error {
			n, err := run.(*tx).Next(&visits.Kind)
			if n != want || err != nil {
				t.Errorf("number %d is %d, %v", want, n, err)
			}
			return failed
		})
		if err != failed {
			t.Error(err)
		}
	}
	if err := s.view(bg, func(tx *tx) error { _, err := tx.Next(&visits.Kind); return err }); err == nil {
		t.Error("a View gets a number")
	}
}

// TestTablesOfKinds compares what migrations made with the kinds.
func TestTablesOfKinds(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	opened(t, database).Close()
	made := func(schema, name string) string {
		return fmt.Sprint(postgres.Exec(t, database, fmt.Sprintf(`SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = '%[1]s' AND table_name = '%[2]s' ORDER BY ordinal_position`, schema, name)),
			postgres.Exec(t, database, fmt.Sprintf(`SELECT replace(indexdef, '%[1]s.', '') FROM pg_indexes WHERE schemaname = '%[1]s' AND tablename = '%[2]s' ORDER BY indexname`, schema, name)))
	}
	postgres.Exec(t, database, "CREATE SCHEMA kinds")
	for _, k := range rows.Kinds() {
		postgres.Exec(t, database, "SET search_path = kinds; "+sqlOf(k))
		name := tableOf(k).name
		if got, want := made("public", name), made("kinds", name); got != want {
			t.Errorf("%s is\n%s\nand not\n%s", name, got, want)
		}
	}
}
