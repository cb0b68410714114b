package pgstore

import (
	"fmt"
	"testing"

	"teamdata/store/rows"
)

// What was loaded as a whole is known: which keys are not there, for as long as the group
// runs, and what is in a range, until something in it is written.
func TestLoadedRange(t *testing.T) {
	o, plans := newOverlay(), kindTable("plans")
	for _, key := range []string{"c3", "a1", "c1", "b1", "a3"} {
		o.loaded(plans, row{[]byte(key)}, row{[]byte(key), {}})
	}
	for _, of := range []string{"c", "a"} {
		o.whole(plans, rows.Within([]byte(of)), between(o.sorted(plans), rows.Within([]byte(of))))
	}
	scan := func(from, to string) string {
		r := rows.Range{Index: rows.ByKey}
		if r.From = []byte(from); to != "" {
			r.To = []byte(to)
		}
		found, known := o.inRange(plans, r)
		if !known {
			return "unknown"
		}
		return fmt.Sprintf("%s", firstTexts(found))
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("it is %s, not %s", got, want)
		}
	}
	check(scan("a", "b"), "[a1 a3]")
	check(scan("a2", "a4"), "[a3]")
	check(scan("a4", "a2"), "[]")
	check(scan("a", "c"), "unknown")
	check(scan("b", "b2"), "unknown")
	check(scan("c", ""), "unknown")
	check(scan("c", "d"), "[c1 c3]")
	check(scan("", "a"), "unknown")
	for key, want := range map[string]bool{"a2": true, "b1": true, "b2": false, "c": true, "d": false} {
		if _, known := o.row(plans, []byte(key)); known != want {
			t.Errorf("%s is known: %t", key, known)
		}
	}
	o.begin()
	o.write(plans, row{[]byte("a2")}, row{[]byte("a2"), {}}, true)
	check(scan("a", "b"), "unknown")
	check(scan("c", "d"), "[c1 c3]")
	o.whole(plans, rows.Within([]byte("a")), []row{{[]byte("a2"), {}}})
	check(scan("a", "b"), "[a2]")
	o.rollback()
	check(scan("a", "b"), "unknown")
	o.whole(plans, rows.Bounds{From: []byte("b")}, nil) // of which a part is known already
	check(scan("b", "b5"), "unknown")
	o.whole(plans, rows.Bounds{}, nil)
	check(scan("", ""), "unknown")
	o.whole(plans, rows.Within([]byte("b")), nil)
	check(scan("b", "b5"), "[]")
	if r, known := o.row(plans, []byte("a2")); r != nil || !known {
		t.Errorf("what is not there any more is %q, and known: %t", r, known)
	}
}

// firstTexts are the first columns of rows.
func firstTexts(rows []row) (texts []string) {
	for _, r := range rows {
		texts = append(texts, string(r[0]))
	}
	return texts
}
