package pgstore_test

import (
	"fmt"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// BenchmarkRows is how many bytes of the database a member takes, and a waiting delivery
// with a short event, each with its indexes.
func BenchmarkRows(b *testing.B) {
	const members, each = 10_000, 100
	server := roomy(b)
	perRow := func(database, table string, rows int) {
		var size float64
		_, err := fmt.Sscan(postgres.Exec(b, database, fmt.Sprintf("SELECT pg_total_relation_size('%s')", table))[0][0], &size)
		kit.Must(b, err)
		b.ReportMetric(size/float64(rows), table+"-B/row")
	}
	for b.Loop() {
		database := server.Database(b)
		fillWaiting(b, database, each)
		perRow(database, "deliveries", waitingEndpoints*each)
		database = server.Database(b)
		membersRead(b, benchmarked(b, database, 1), members)
		perRow(database, "members", members)
	}
	b.ReportMetric(0, "ns/op")
}
