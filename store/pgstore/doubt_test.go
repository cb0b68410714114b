package pgstore

import (
	"strings"
	"testing"

	"teamdata/internal/pgtest"
	"teamdata/store"
)

// The row of a server that was killed is deleted a week later, and not before. One that
// only slept for so long finds out with its next commit, and ends.
func TestServersThatAreGone(t *testing.T) {
	database := pgtest.New(t)
	servers := nodes(t, 3, database, nil)
	seen := func(s *Store, days string) {
		pgtest.Exec(t, database, "UPDATE nodes SET seen = seen - "+days+" * 86400000 WHERE id = '"+s.node+"'")
	}
	seen(servers[0], "6")
	seen(servers[1], "8")
	seen(servers[2], "8") // and is seen now
	if err := servers[2].tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := pgtest.Exec(t, database, "SELECT id FROM nodes"); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
	for i, s := range servers {
		err := s.Probe(t.Context())
		if gone := i == 1; gone != (s.Life().Err() != nil) || gone != (store.CodeOf(err) == store.CodeUnavailable) || gone && !strings.Contains(err.Error(), "no longer knows") {
			t.Errorf("server %d: %v", i, err)
		}
	}
}
