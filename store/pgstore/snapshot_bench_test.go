package pgstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// BenchmarkForeignSnapshot is how many requests are accepted one after the other at first, and
// while somebody else's snapshot is as old as so many commits: what 500 a second make in 1, 5
// and 10 minutes. Half of these record outcomes. Beside it, how many rows are inserted, one in
// a commit, which tells how busy the machine is. Nothing waits for the disk. That many are
// made with -args -size 100, in some five minutes, and a hundredth of them without.
func BenchmarkForeignSnapshot(b *testing.B) {
	const perSecond, times = 500, 2000
	database := roomy(b).Database(b) + "&options=-csynchronous_commit%3Doff"
	s := benchmarked(b, database, 1)
	age := func() { // two commits
		var d store.Delivery
		kit.Must(b, s.Update(bg, store.InOrg("org_0"), func(tx store.Tx) (err error) {
			_, errAudit := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_0", Action: "test"})
			d, err = store.SendTest(tx, "org_0", "whe_1")
			return errors.Join(err, errAudit)
		}))
		scope := store.InOrg("org_0")
		scope.Deliveries = []string{d.ID}
		kit.Must(b, s.Update(bg, scope, func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, d.ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(20 * time.Millisecond), Status: 200}, nil)
			return err
		}))
	}
	postgres.Exec(b, database, "CREATE TABLE floor (n int)")
	floor, err := pgconn.Connect(bg, database)
	kit.Must(b, err)
	defer floor.Close(bg)
	measure := func(minutes int) {
		began := time.Now()
		for i := range times {
			kit.Must(b, accept(s, "org_0", fmt.Sprint("key-", minutes, "-", i)))
		}
		accepted := time.Since(began)
		for range times {
			if _, err := floor.Exec(bg, "INSERT INTO floor VALUES (1)").ReadAll(); err != nil {
				b.Fatal(err)
			}
		}
		inserted := time.Since(began) - accepted
		b.ReportMetric(times/accepted.Seconds(), fmt.Sprintf("accepts/s-%dmin", minutes))
		b.ReportMetric(times/inserted.Seconds(), fmt.Sprintf("inserts/s-%dmin", minutes))
	}
	for b.Loop() {
		for range times {
			age()
		}
		measure(0)
		snapshot(b, database)
		commits := 0
		for _, minutes := range []int{1, 5, 10} {
			for ; commits < minutes*60*perSecond*kit.Size(1, 100)/100; commits += 2 {
				age()
			}
			measure(minutes)
		}
	}
}
