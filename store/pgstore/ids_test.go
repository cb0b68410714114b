package pgstore

import (
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// Ids rise in the order of the commits, whatever the clocks of the nodes say, also behind a
// node that is gone.
func TestIDsRiseOverNodes(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	node := func(name string, ahead time.Duration) *Store {
		target, err := ParseTarget(database)
		kit.Must(t, err)
		s, err := Open(bg, target, Options{Node: name, Sole: true, Now: func() time.Time { return time.Now().Add(ahead) }})
		kit.Must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	last := ""
	rises := func(s *Store, scope store.Scope) {
		t.Helper()
		kit.Must(t, s.Update(bg, scope, func(tx store.Tx) error {
			id := tx.NewID(store.PrefixEvent)
			if id <= last {
				t.Errorf("%s comes after %s", id, last)
			}
			last = id
			return nil
		}))
	}
	one, two, three := node("one", 0), node("two", time.Hour), node("three", 0)
	scopes := []store.Scope{store.InOrg("org_1"), store.OfUser("usr_1"), store.All}
	for i := range 3 * partCommits {
		for _, s := range []*Store{one, two} {
			rises(s, scopes[i%len(scopes)])
		}
	}
	kit.Must(t, two.Close())
	rises(three, store.InOrg("org_1"))
	kit.Must(t, one.Close())
	kit.Must(t, three.Close())
	rises(node("four", 0), store.All)
}
