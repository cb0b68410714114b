package pgstore_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

const span = 6 * time.Hour

// keys are idempotency records in a database, and a clock.
type keys struct {
	testing.TB
	*pgstore.Store
	database string
	mu       sync.Mutex
	at       time.Time
}

func newKeys(t testing.TB) *keys {
	k := &keys{TB: t, database: pgstore.WithTables(t), at: time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)}
	k.Store = open(t, k.database, pgstore.Options{Now: k.now})
	t.Cleanup(func() { k.Close() })
	return k
}

func (k *keys) now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at
}

func (k *keys) move(to time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = to
}

func (k *keys) use(key string) {
	k.Helper()
	k.useAt(key, k.now())
}

func (k *keys) useAt(key string, at time.Time) {
	k.Helper()
	err := k.Update(bg, store.Scope{Orgs: []string{"org"}, Keys: []store.IdempotencyKey{{OrgID: "org", Key: key}}}, func(tx store.Tx) error {
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: "org", Key: key, FirstUse: at})
	})
	kit.Must(k, err)
}

func (k *keys) finds(key string) bool {
	k.Helper()
	err := k.View(bg, func(tx store.Tx) error {
		_, err := tx.IdempotencyRecord("org", key)
		return err
	})
	if err != nil && !store.IsNotFound(err) {
		k.Fatal(err)
	}
	return err == nil
}

func (k *keys) expire() (n int) {
	k.Helper()
	err := k.Update(bg, store.All, func(tx store.Tx) (err error) {
		n, err = tx.ExpireIdempotencyRecords(50)
		return err
	})
	kit.Must(k, err)
	return n
}

// partitions are the times at which those in the database begin.
func (k *keys) partitions() string {
	k.Helper()
	var from []string
	for _, r := range postgres.Exec(k, k.database, "SELECT relname FROM pg_class WHERE relname ~ '^idempotency_[0-9]+$' ORDER BY relname") {
		var n int64
		fmt.Sscanf(r[0], "idempotency_%d", &n)
		from = append(from, time.UnixMilli(n*span.Milliseconds()).UTC().Format("02.15"))
	}
	return strings.Join(from, " ")
}

func (k *keys) expectPartitions(when, want string) {
	k.Helper()
	if got := k.partitions(); got != want {
		k.Errorf("%s there are the partitions %q, not %q", when, got, want)
	}
}

func TestPartitionIsDroppedOnceAllHasExpired(t *testing.T) {
	k := newKeys(t)
	start := k.now()
	k.expectPartitions("at first", "06.12 06.18")
	k.use("first")
	k.move(start.Add(span - time.Millisecond))
	k.use("last")
	k.move(start.Add(store.IdempotencyTTL + span - 2*time.Millisecond))
	if k.finds("first") || !k.finds("last") {
		t.Error("a record is found for another time than it should")
	}
	if n := k.expire(); n != 0 {
		t.Errorf("%d records were dropped while one counts", n)
	}
	k.move(start.Add(store.IdempotencyTTL + span))
	if n := k.expire(); n != 2 {
		t.Errorf("%d records were dropped", n)
	}
	if n := k.expire(); n != 0 { // drops the empty one behind it, too, and no other
		t.Errorf("%d records were dropped again", n)
	}
	if got := k.partitions(); strings.HasPrefix(got, "06.12") {
		t.Errorf("of the partitions %q the first is not dropped", got)
	}
	check(t, k.database)
}

// A key that is used again while the record of its first use is not dropped yet.
func TestKeyIsUsedAgain(t *testing.T) {
	k := newKeys(t)
	k.use("k")
	for range 3 {
		k.move(k.now().Add(store.IdempotencyTTL))
		if k.finds("k") {
			t.Error("the key is found after its time")
		}
		k.use("k")
		if !k.finds("k") {
			t.Error("the key is not found after it was used again")
		}
	}
	err := k.Update(bg, store.All, func(tx store.Tx) error {
		found, _, err := tx.IdempotencyKeys("org", "", 10)
		if len(found) != 1 {
			t.Errorf("the keys are %q", found)
		}
		if err != nil {
			return err
		}
		return tx.DeleteIdempotencyRecord("org", "k")
	})
	if err != nil || k.finds("k") {
		t.Errorf("the key is there after it was deleted, or: %v", err)
	}
}

// Partitions are made for any time, also for those of one group that lie years apart,
// and for one whose partition somebody dropped.
func TestPartitionsAreMadeWhenTheyAreNeeded(t *testing.T) {
	k := newKeys(t)
	times := []time.Time{time.UnixMilli(-1), time.UnixMilli(0), time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() { k.useAt(fmt.Sprint(i), times[i%len(times)].Add(time.Duration(i)*time.Hour)) })
	}
	all.Wait()
	k.use("now")
	rows := postgres.Exec(t, k.database, "SELECT tablename FROM pg_tables WHERE tablename ~ '^idempotency_[0-9]+$'")
	for _, r := range rows {
		postgres.Exec(t, k.database, "DROP TABLE "+r[0])
	}
	k.use("again")
	if !k.finds("again") || k.finds("now") {
		t.Error("what is found is not what was written since")
	}
	check(t, k.database)
}

// reader reads all records in a transaction, which the function that it returns ends.
func reader(t testing.TB, database string) (end func()) {
	conn, err := pgconn.Connect(bg, database)
	kit.Must(t, err)
	t.Cleanup(func() { conn.Close(bg) })
	exec := func(sql string) {
		if _, err := conn.Exec(bg, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN; SELECT count(*) FROM idempotency")
	return func() { exec("COMMIT") }
}

// A partition that somebody reads is dropped later, and updates don't wait for that.
func TestReaderKeepsPartition(t *testing.T) {
	k := newKeys(t)
	k.use("k")
	before := k.partitions()
	k.move(k.now().Add(store.IdempotencyTTL + 2*span))
	k.use("later")
	dump := reader(t, k.database)
	began := time.Now()
	if n := k.expire(); n != 0 {
		t.Errorf("%d records were dropped under a reader", n)
	}
	k.use("beside")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a drop and an update beside a reader took %v", took)
	}
	if got := k.partitions(); !strings.HasPrefix(got, before) {
		t.Errorf("of the partitions %q some are dropped: %q", before, got)
	}
	dump()
	if n := k.expire(); n != 1 {
		t.Errorf("%d records were dropped after the reader ended", n)
	}
	if !k.finds("later") || !k.finds("beside") {
		t.Error("a record that counts was dropped")
	}
}

// Keys are used, and looked for, while partitions are dropped again and again.
func TestDropsBesideWriters(t *testing.T) {
	t.Parallel()
	const rounds, callers = 20, 8
	k := newKeys(t)
	for round := range rounds {
		var all sync.WaitGroup
		for caller := range callers {
			all.Go(func() {
				key := fmt.Sprintf("%d-%d", round, caller)
				k.use(key)
				if !k.finds(key) {
					t.Errorf("the key %s is not found", key)
				}
			})
		}
		all.Go(func() {
			for k.expire() > 0 {
			}
		})
		all.Wait()
		k.move(k.now().Add(span))
	}
	left := postgres.Exec(t, k.database, "SELECT count(*) FROM idempotency")[0][0]
	if want := fmt.Sprint(callers * 5); left != want { // at the last expiry four partitions counted, and that of the round
		t.Errorf("%s records are left, not %s", left, want)
	}
	check(t, k.database)
}

// A drop is undone with the update that it is part of.
func TestDropIsUndone(t *testing.T) {
	k := newKeys(t)
	k.use("k")
	k.move(k.now().Add(store.IdempotencyTTL + span))
	before := k.partitions()
	err := k.Update(bg, store.All, func(tx store.Tx) error {
		if n, err := tx.ExpireIdempotencyRecords(50); n != 1 || err != nil {
			t.Errorf("dropped %d records: %v", n, err)
		}
		return store.Errorf(store.CodeConflict, "No.")
	})
	if store.CodeOf(err) != store.CodeConflict {
		t.Fatal(err)
	}
	if got := k.partitions(); !strings.HasPrefix(got, before) {
		t.Errorf("of the partitions %q %q are left", before, got)
	}
	if n := k.expire(); n != 1 {
		t.Errorf("%d records were dropped", n)
	}
}
