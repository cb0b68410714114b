package pgstore

import (
	"fmt"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// openFor opens a database as a server of a kind does.
func openFor(t testing.TB, database string, tests bool) (*Store, error) {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	s, err := Open(bg, target, Options{Node: RandomName(), ForTests: tests})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// A database is for tests or it isn't, from its first start on, whoever runs meanwhile.
func TestServersForTestsAndOthers(t *testing.T) {
	t.Parallel()
	for _, tests := range []bool{false, true} {
		database := postgres.New(t)
		first, err := openFor(t, database, tests)
		kit.Must(t, err)
		before, want := contents(t, database), "is not for tests"
		if tests {
			want = "is for tests"
			_, err = openFor(t, database, true)
			checkRefusal(t, err, "is used by another server for tests", "database of its own")
		}
		_, err = openFor(t, database, !tests)
		checkRefusal(t, err, want, "--data")
		kit.Must(t, first.Close())
		_, err = openFor(t, database, !tests)
		checkRefusal(t, err, want, "--data")
		if now := contents(t, database); now != before {
			t.Errorf("a refusal changed it to %s", now)
		}
		if _, err := openFor(t, database, tests); err != nil {
			t.Error(err)
		}
	}
}

// A command is no server for tests, and a program that does not know of them none either.
func TestForTestsIsNotForOthers(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	s, err := openFor(t, database, true)
	kit.Must(t, err)
	_, err = Open(bg, s.target, Options{})
	checkRefusal(t, err, "is for tests")
	if from := postgres.Exec(t, database, "SELECT may_write FROM meta")[0][0]; from != fmt.Sprint(own()) {
		t.Errorf("programs from schema %s on may write to it", from)
	}
}

// Of servers of both kinds that start together on an empty database, those of one are
// refused.
func TestServersForTestsStartTogether(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	var all sync.WaitGroup
	var opened [2]*Store
	for i := range opened {
		all.Go(func() { opened[i], _ = openFor(t, database, i == 1) })
	}
	all.Wait()
	if (opened[0] == nil) == (opened[1] == nil) {
		t.Errorf("both are refused, or both are served: %v", opened)
	}
}

// What deletes everything asks the database when it does.
func TestClearAsksTheDatabase(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	s, err := openFor(t, database, true)
	kit.Must(t, err)
	writes(t, s, "org_1")
	postgres.Exec(t, database, "UPDATE meta SET for_tests = false")
	if err := s.Clear(bg, ""); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("a database that is not for tests is cleared: %v", err)
	}
	if n := postgres.Exec(t, database, "SELECT count(*) FROM orgs")[0][0]; n != "1" {
		t.Errorf("%s orgs are left", n)
	}
	postgres.Exec(t, database, "UPDATE meta SET for_tests = true")
	kit.Must(t, s.Clear(bg, ""))
	if n := postgres.Exec(t, database, "SELECT count(*) FROM orgs")[0][0]; n != "0" {
		t.Errorf("%s orgs are left", n)
	}
}
