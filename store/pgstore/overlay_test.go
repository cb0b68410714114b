package pgstore

import (
	"strings"
	"testing"
)

// A row that was new when an update began is new again once that has failed, however
// often it was sent.
func TestRowSentTwice(t *testing.T) {
	o := newOverlay()
	key := row{[]byte("pro")}
	write := func(record string) { o.write(plans.table, key, append(key[:1:1], []byte(record)), false) }
	o.loaded(plans.table, key, nil)
	o.begin()
	write("first")
	o.begin()
	for _, record := range []string{"second", "third"} {
		o.flushEarly([]*table{plans.table})
		write(record)
	}
	o.flushEarly([]*table{plans.table})
	o.rollback()
	queries := o.flushAll()
	last := queries[len(queries)-1]
	if !strings.HasPrefix(last.sql, "INSERT ") || !strings.Contains(string(last.values[1]), "first") {
		t.Errorf("sent is %s with %q", last.sql, last.values)
	}
}
