package pgstore

import (
	"fmt"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/engine"
)

// A row that was new when an update began is new again once that has failed, however
// often it was sent.
func TestRowSentTwice(t *testing.T) {
	o, plans := newOverlay(), kindTable("plans")
	key := row{[]byte("pro")}
	write := func(record string) { o.write(plans, key, append(key[:1:1], []byte(record)), false) }
	o.loaded(plans, key, nil)
	o.begin()
	write("first")
	o.begin()
	for _, record := range []string{"second", "third"} {
		o.flushEarly([]*table{plans})
		write(record)
	}
	o.flushEarly([]*table{plans})
	o.rollback()
	queries := o.flushAll()
	last := queries[len(queries)-1]
	if !strings.HasPrefix(last.sql, "INSERT ") || !strings.Contains(string(last.values[1]), "first") {
		t.Errorf("sent is %s with %q", last.sql, last.values)
	}
}

// An update of a row that is not there any more is no success: nothing of its group is
// committed, and all are told.
func TestUpdatedRowIsGone(t *testing.T) {
	database := WithTables(t)
	s := opened(t, database)
	defer s.Close()
	put := func(tx store.Tx, name string) error {
		if _, err := tx.Plan(name); err != nil && !store.IsNotFound(err) {
			return err
		}
		return tx.PutPlan(store.Plan{Name: name, Features: store.FeatureAPI})
	}
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error { return put(tx, "pro") }))
	for what, early := range map[string]bool{"with the commit": false, "before a query": true} {
		t.Run(what, func(t *testing.T) {
			all := func(fn func(store.Tx) error) *engine.Update { return &engine.Update{Ctx: bg, Scope: store.All, Fn: fn} }
			group := []*engine.Update{
				all(func(tx store.Tx) error { return put(tx, "other") }),
				all(func(tx store.Tx) error {
					err := put(tx, "pro")
					postgres.Exec(t, database, "DELETE FROM plans")
					if early && err == nil {
						_, err = tx.Plans()
					}
					return err
				}),
			}
			s.commit(group)
			for i, u := range group {
				if got := fmt.Sprint(u.Err); !strings.Contains(got, "updated only 0 of 1 rows of plans") || store.CodeOf(u.Err) != store.CodeInternal {
					t.Errorf("update %d is told %s", i, got)
				}
			}
			if n := postgres.Exec(t, database, "SELECT count(*) FROM plans")[0][0]; n != "0" {
				t.Errorf("%s plans were committed", n)
			}
			for range 2 { // makes it, then updates it
				if err := s.Update(bg, store.All, func(tx store.Tx) error { return put(tx, "pro") }); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
