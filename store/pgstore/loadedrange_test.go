package pgstore

import (
	"fmt"
	"testing"

	"teamdata/store/rows"
)

// What was loaded as a whole is known: which keys are not there, for as long as the group
// runs, and what is in a range, until something in it is written.
func TestLoadedRange(t *testing.T) {
	o := newOverlay()
	put := func(key string) { o.loaded(plans, row{[]byte(key)}, row{[]byte(key), {}}) }
	for _, key := range []string{"c3", "a1", "c1", "b1", "a3"} {
		put(key)
	}
	o.whole(plans, rows.Within([]byte("a")), rows.Within([]byte("c")))
	scan := func(from, to string, back bool) string {
		r := rows.Range{Index: rows.ByKey, Back: back}
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
	check(scan("a", "b", false), "[a1 a3]")
	check(scan("a", "b", true), "[a3 a1]")
	check(scan("a2", "a4", false), "[a3]")
	check(scan("a4", "a2", false), "[]")
	check(scan("a", "c", false), "unknown")
	check(scan("b", "b2", false), "unknown")
	check(scan("c", "", false), "unknown")
	check(scan("c", "d", false), "[c1 c3]")
	check(scan("", "a", false), "unknown")
	for key, want := range map[string]bool{"a2": true, "b1": true, "b2": false, "c": true, "d": false} {
		if _, known := o.row(plans, []byte(key)); known != want {
			t.Errorf("%s is known: %t", key, known)
		}
	}
	o.begin()
	o.write(plans, row{[]byte("a2")}, row{[]byte("a2"), {}}, true)
	check(scan("a", "b", false), "unknown")
	check(scan("c", "d", false), "[c1 c3]")
	o.rollback()
	if r, known := o.row(plans, []byte("a2")); r != nil || !known {
		t.Errorf("what is not there any more is %q, and known: %t", r, known)
	}
}
