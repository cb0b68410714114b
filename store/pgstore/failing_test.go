package pgstore

import (
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// What the database refuses counts until a commit succeeds that is no probe. What says
// nothing of the next commit does not.
func TestFailingWhileRefused(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	s, err := openFor(t, database, false)
	kit.Must(t, err)
	write := func(name string) error {
		return s.Update(bg, store.All, func(tx store.Tx) error { return tx.PutPlan(store.Plan{Name: name}) })
	}
	postgres.Exec(t, database, "REVOKE INSERT ON plans FROM "+postgres.Owner)
	if err := write("pro"); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("it ends with %v", err)
	}
	kit.Must(t, s.Probe(bg))
	if s.Failing() == nil {
		t.Error("it is forgotten that writes are refused")
	}
	postgres.Exec(t, database, "GRANT INSERT ON plans TO "+postgres.Owner)
	kit.Must(t, write("pro"))
	if err := s.Failing(); err != nil {
		t.Errorf("after a success it says %v", err)
	}
	noText := func(t store.Tx) error { return ownTx(t).put(seals, row{{0xff}, {}}) }
	if err := s.Update(bg, store.All, noText); err == nil {
		t.Error("what is no text was stored as one")
	}
	if err := s.Failing(); err != nil {
		t.Errorf("of a bug it says %v", err)
	}
}
