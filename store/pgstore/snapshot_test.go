package pgstore_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// deliver accepts n requests and records the outcomes of what they made, each in a commit.
func deliver(t testing.TB, s *pgstore.Store, org string, endpoint uint64, n int) {
	t.Helper()
	for i := range n {
		kit.Must(t, accept(s, org, fmt.Sprint("key-", time.Now().UnixNano(), i)))
	}
	claims, err := s.Claim(bg, endpoint, time.Now().Add(time.Hour), n)
	kit.Must(t, err)
	if len(claims.Claims) != n {
		t.Fatalf("%d are claimed", len(claims.Claims))
	}
	for _, c := range claims.Claims {
		scope := store.Scope{Orgs: []string{c.Delivery.OrgID}, Deliveries: []string{c.Delivery.ID}, Fence: claims.Fence}
		kit.Must(t, s.Update(bg, scope, func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, c.Delivery.ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(20 * time.Millisecond), Status: 200}, nil)
			return err
		}))
		s.Release(c.Delivery.ID)
	}
}

// numberOf is the number of an endpoint that fill made.
func numberOf(t testing.TB, s *pgstore.Store, org string) (endpoint uint64) {
	t.Helper()
	kit.Must(t, s.View(bg, func(tx store.Tx) error {
		e, err := tx.Endpoint(org, "whe_1")
		endpoint = e.Number
		return err
	}))
	return endpoint
}

// snapshot opens one, as pg_dump has while it runs.
func snapshot(t testing.TB, database string) {
	t.Helper()
	foreign, err := pgconn.Connect(bg, database)
	kit.Must(t, err)
	t.Cleanup(func() { foreign.Close(bg) })
	if _, err := foreign.Exec(bg, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM orgs").ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// While somebody has a snapshot, all versions of a row stay there. So no row is written over
// by every commit, and what each commit reads is found without going through old versions.
func TestForeignSnapshot(t *testing.T) {
	t.Parallel()
	const each, times, most = 8, 100, 64
	database := pgstore.WithTables(t)
	s := open(t, database, pgstore.Options{})
	fill(t, s, 1)
	endpoint := numberOf(t, s, "org_0")
	snapshot(t, database)
	for range times {
		deliver(t, s, "org_0", endpoint, each)
	}
	var node string
	nodes := postgres.Exec(t, database, "SELECT id FROM nodes")
	node = nodes[0][0]
	for what, sql := range map[string]string{
		"its number":          "SELECT n FROM commits WHERE node = '" + node + "' ORDER BY part DESC LIMIT 1",
		"the last id":         pgstore.SQLLastID,
		"positions":           `SELECT key FROM audit_log WHERE key >= 'org_0\000' AND key < 'org_0\001' ORDER BY key DESC LIMIT 1`,
		"the acknowledgement": fmt.Sprintf("SELECT at FROM last_acknowledged WHERE key = int8send(%d) ORDER BY at DESC LIMIT 1", endpoint),
	} {
		if read := blocksOf(t, database, sql); read > 12 {
			t.Errorf("to read %s, %d blocks are read", what, read)
		}
	}
	kit.Must(t, s.Close())
	await(t, database, fmt.Sprintf("SELECT n_tup_ins >= %d FROM pg_stat_user_tables WHERE relname = 'audit_log'", each*times))
	for _, r := range postgres.Exec(t, database, "SELECT relname, n_tup_upd, n_tup_ins FROM pg_stat_user_tables") {
		updated, _ := strconv.Atoi(r[1])
		inserted, _ := strconv.Atoi(r[2])
		if updated > most*max(inserted, 1) {
			t.Errorf("%d rows of %s are written over %d times", inserted, r[0], updated)
		}
	}
}

// blocksOf is how many blocks a query reads, planned as those of a node are.
func blocksOf(t testing.TB, database, sql string) int {
	t.Helper()
	const settings = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; "
	plan := postgres.Exec(t, database, settings+"EXPLAIN (ANALYZE, BUFFERS) "+sql)
	var read int
	if _, err := fmt.Sscanf(plan[1][0], " Buffers: shared hit=%d", &read); err != nil {
		for _, line := range plan {
			if _, err = fmt.Sscanf(line[0], " Buffers: shared hit=%d", &read); err == nil {
				break
			}
		}
		kit.Must(t, err)
	}
	return read
}
