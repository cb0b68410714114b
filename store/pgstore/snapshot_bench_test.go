package pgstore_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// BenchmarkForeignSnapshot is how many requests one after the other are accepted, and their
// outcomes recorded, at first, and while somebody else's snapshot is as old as so many
// commits, which are made as fast as possible: COMMITS, or 100,000.
func BenchmarkForeignSnapshot(b *testing.B) {
	commits := 100_000
	if n, err := strconv.Atoi(os.Getenv("COMMITS")); err == nil {
		commits = n
	}
	database := roomy(b).Database(b) + "&options=-csynchronous_commit%3Doff" // as many versions as possible
	s := benchmarked(b, database, 4)
	endpoint := numberOf(b, s, "org_0")
	some := func(times int) (perSecond float64) {
		began := time.Now()
		for range times / 16 {
			deliver(b, s, "org_0", endpoint, 8)
		}
		return float64(times) / time.Since(began).Seconds()
	}
	accepts := func(times int) float64 {
		began := time.Now()
		for i := range times {
			kit.Must(b, accept(s, "org_1", fmt.Sprint("key-", began.UnixNano(), i)))
		}
		return float64(times) / time.Since(began).Seconds()
	}
	for b.Loop() {
		some(2000)
		fmt.Printf("at first: %.0f/s, accepts %.0f/s\n", some(2000), accepts(1000))
		snapshot(b, database)
		for n := 0; n < commits; n += commits / 5 {
			some(commits / 5)
			fmt.Printf("after %d commits: %.0f/s, accepts %.0f/s\n", n+commits/5, some(2000), accepts(1000))
		}
	}
}
