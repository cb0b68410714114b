package rowstest_test

import (
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

// TestUndo: of what was written since Begin nothing is left, and nobody is told of it.
func TestUndo(t *testing.T) {
	m := rowstest.NewModel(nil)
	tx := m.Tx()
	kept := rowstest.User{Org: "o", ID: "u", Name: "Ada", Email: "a@b"}
	m.Begin()
	kit.Must(t, rowstest.Users.Put(tx, &kept))
	tx.Changed().Again("kept")
	m.Begin()
	for _, email := range []string{"b@b", "c@b"} {
		u := kept
		u.Email = email
		kit.Must(t, rowstest.Users.Put(tx, &u))
	}
	kit.Must(t, rowstest.Users.Drop(tx, []byte("o\x00u")))
	tx.Changed().Again("undone")
	m.Undo()
	for index := range 2 {
		list, err := rowstest.Users.List(tx, rows.Range{Index: index})
		if kit.Must(t, err); len(list) != 1 || list[0] != kept {
			t.Errorf("by index %d there are %+v", index, list)
		}
	}
	if written := tx.Changed().Written; len(written) != 1 || written[0] != "kept" {
		t.Errorf("others are told of %v", written)
	}
}
