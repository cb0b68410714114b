package pgstore

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// What a server sent before it was killed may be committed after the next one began to
// start, which has to see it: nobody tells it later of what became due.
func TestOpenAwaitsTheLastCommit(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	one := opened(t, database)
	var endpoint uint64
	err := one.Update(bg, store.All, func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: "org_1", Name: "One"})
		if err != nil {
			return err
		}
		e, err := store.ImportEndpoint(tx, store.Endpoint{OrgID: "org_1", ID: "whe_1", URL: "https://example.com", Events: store.BuiltInEventTypes})
		if endpoint = e.Number; err != nil {
			return err
		}
		_, err = store.SendTest(tx, "org_1", "whe_1")
		return err
	})
	kit.Must(t, err)
	one.Close()
	killed, err := pgconn.Connect(bg, database)
	kit.Must(t, err)
	defer killed.Close(bg)
	kit.Must(t, killed.Exec(bg, "BEGIN; "+sqlShareUpdates+"; UPDATE deliveries SET place = substring(place FOR 9) || int8send(7) || substring(place FROM 18)").Close())

	next := make(chan *Store)
	go func() { next <- opened(t, database) }()
	select {
	case s := <-next:
		s.Close()
		t.Fatal("it opened before the commit")
	case <-time.After(300 * time.Millisecond):
	}
	kit.Must(t, killed.Exec(bg, "COMMIT").Close())
	s := <-next
	if s == nil {
		return
	}
	defer s.Close()
	found := false
	err = s.EachDue(bg, func(number uint64, due time.Time) { found = number == endpoint && due.UnixMilli() == 7 })
	if err != nil || !found {
		t.Errorf("what it committed is not due: %v", err)
	}
}

// A database that another teamdata keeps locked is said to be busy.
func TestOpenLocked(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	database := WithTables(t)
	opened(t, database).Close()
	other, err := pgconn.Connect(bg, database)
	kit.Must(t, err)
	defer other.Close(bg)
	if err := other.Exec(bg, "BEGIN; "+sqlStopUpdates).Close(); err != nil {
		t.Fatal(err)
	}
	_, err = openTarget(database)
	checkRefusal(t, err, "is busy")
}

func openTarget(database string) (*Store, error) {
	target, err := ParseTarget(database)
	if err != nil {
		return nil, err
	}
	return Open(bg, target, Options{})
}

func opened(t testing.TB, database string) *Store {
	s, err := openTarget(database)
	if err != nil {
		t.Error(err)
	}
	return s
}
