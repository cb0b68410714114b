package pgstore_test

import (
	"fmt"
	"sync"
	"testing"

	"teamdata/internal/pgtest"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// An Update that takes its time holds up those of its own org, and of some others, but
// not those of another writer, and one of everything waits for it.
func TestWriters(t *testing.T) {
	database := pgtest.New(t)
	s := open(t, database, pgstore.Options{})
	defer s.Close()
	began, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	write := func(scope store.Scope, org string, amid func()) {
		all.Go(func() {
			if err := s.Update(bg, scope, func(tx store.Tx) error {
				amid()
				_, err := tx.AppendAudit(store.AuditEntry{OrgID: org, Action: "test"})
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	write(store.InOrg("org_0"), "org_0", sync.OnceFunc(func() { close(began); <-goOn }))
	<-began
	const others = 16
	passed := make(chan string, others)
	for i := range others {
		org := fmt.Sprint("org_", i+1)
		write(store.InOrg(org), org, func() { passed <- org })
	}
	first := <-passed
	if n := pgtest.Exec(t, database, "SELECT writer, n FROM commits ORDER BY 1"); len(n) != 2 {
		t.Errorf("the writers are %v", n)
	}
	write(store.All, first, func() {
		select {
		case <-goOn:
		default:
			t.Error("all was written beside an Update")
		}
	})
	close(goOn)
	all.Wait()
	for i := range others + 1 {
		org := fmt.Sprint("org_", i)
		want := 1
		if org == first {
			want = 2
		}
		err := s.View(bg, func(tx store.Tx) error {
			page, err := tx.AuditPage(org, store.Cursor{}, 10, nil)
			if page.Count != want {
				t.Errorf("%s has %d", org, page.Count)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
