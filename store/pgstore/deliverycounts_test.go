package pgstore

import (
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// Commits add to parts of the counts of an hour, which are put together meanwhile. None is
// lost, and who reads them sees one sum.
func TestFoldCounts(t *testing.T) {
	t.Parallel()
	const writers, each = 2, 3 * partCommits
	database := WithTables(t)
	nodes := []*steered{steer(t, database, "one"), steer(t, database, "two")}
	at := time.Now()
	var writing, folding sync.WaitGroup
	written := make(chan struct{})
	for i := range writers {
		writing.Go(func() {
			for range each {
				if err := nodes[i].Update(bg, store.InOrg("org_1"), func(tx store.Tx) error {
					return tx.AddDeliveryCounts("org_1", 7, at, store.DeliveryCounts{Acknowledged: 1, Failed: 2})
				}); err != nil {
					t.Error(err)
				}
			}
		})
		folding.Go(func() {
			for more := true; more; {
				select {
				case <-written:
					more = false
				default:
				}
				if err := nodes[i].foldCounts(bg); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(written)
	folding.Wait()
	sums := 0
	kit.Must(t, nodes[0].View(bg, func(tx store.Tx) error {
		return tx.EachDeliveryCounts("org_1", at, func(endpoint uint64, _ time.Time, c store.DeliveryCounts) {
			if sums++; c.Acknowledged != writers*each || c.Failed != 2*writers*each {
				t.Errorf("the counts are %+v", c)
			}
		})
	}))
	if parts := postgres.Exec(t, database, "SELECT part FROM delivery_counts"); sums != 1 || len(parts) != 1 || parts[0][0] != "0" {
		t.Errorf("there are %d sums of the parts %v", sums, parts)
	}
}
