package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/store"
)

// The idempotency records are in partitions by the time of their first use: their keys
// are the clients' and can't rise, so that deleting them one by one would cost as much
// as inserting them. A partition is dropped as a whole, once all in it has expired.
//
// There is no default partition, which could not be dropped. They are made ahead, and
// for other times, such as those of a test's clock, by the writer when it needs them.

// partitionSpan is the time span of a partition: a longer one keeps expired records
// for longer, a shorter one makes more to search.
const partitionSpan = 6 * time.Hour

func partitionOf(at time.Time) int64 { return max(at.UnixMilli(), 0) / partitionSpan.Milliseconds() }

// partitions are those that are known to be there. One that was dropped since is
// noticed when a record is inserted.
type partitions struct {
	mu    sync.Mutex
	known []int64
}

func (p *partitions) has(number int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.known, number)
}

func (p *partitions) set(numbers []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = numbers
}

// lackingError is why a group that needs partitions runs again, once they are there.
type lackingError struct{ numbers []int64 }

func (e *lackingError) Error() string { return fmt.Sprint("there are no partitions ", e.numbers) }

// prepareAgain makes what a group lacks, and reports whether it can run again.
func (s *Store) prepareAgain(ctx context.Context, failed error) (again bool, err error) {
	var lacking *lackingError
	var server *pgconn.PgError
	switch {
	case errors.As(failed, &lacking):
		err = s.makePartitions(ctx, lacking.numbers...)
		return err == nil, err
	case errors.As(failed, &server) && server.Code == "23514" && server.ConstraintName == "" && server.TableName == idempotency.name:
		s.partitions.set(nil) // one was dropped; the next run notices
		return true, failed
	}
	return false, failed
}

// makeAhead makes the partitions of now and of the time after it. Its errors are for
// the operator.
func (s *Store) makeAhead(ctx context.Context) error {
	now := partitionOf(s.now())
	if s.partitions.has(now) && s.partitions.has(now+1) {
		return nil
	}
	if err := s.makePartitions(ctx, now, now+1); err != nil {
		return s.target.refusal(err)
	}
	return nil
}

// sqlLockPartitions keeps others from making partitions, and nobody from using them.
const sqlLockPartitions = "LOCK TABLE ONLY idempotency IN SHARE UPDATE EXCLUSIVE MODE"

const sqlPartitions = "SELECT substr(c.relname, length('idempotency_') + 1)::bigint FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'idempotency'::regclass ORDER BY 1"

// makePartitions makes those that are not there. It waits for no reader and no writer.
func (s *Store) makePartitions(ctx context.Context, numbers ...int64) error {
	return s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		found, err := c.rows(ctx, query{sql: sqlBegin}, query{sql: sqlLimits}, query{sql: sqlLockPartitions}, newQuery(sqlPartitions))
		if err != nil {
			return err
		}
		known := partitionNumbers(found)
		var sql string
		for _, n := range numbers {
			if !slices.Contains(known, n) {
				known, sql = append(known, n), sql+sqlMakePartition(n)
			}
		}
		if _, err := c.Exec(ctx, sql+"COMMIT").ReadAll(); err != nil {
			return err
		}
		s.partitions.set(known)
		return nil
	})
}

// sqlMakePartition makes a partition as a table of its own first: to be made as a
// partition it would have to wait for all who read or write the others.
func sqlMakePartition(n int64) string {
	span := partitionSpan.Milliseconds()
	from := fmt.Sprint(n * span)
	if n == 0 {
		from = "MINVALUE"
	}
	return fmt.Sprintf("CREATE TABLE idempotency_%[1]d (LIKE idempotency INCLUDING ALL); ALTER TABLE idempotency ATTACH PARTITION idempotency_%[1]d FOR VALUES FROM (%[2]s) TO (%[3]d); ",
		n, from, (n+1)*span)
}

func partitionNumbers(rows []row) (numbers []int64) {
	for _, r := range rows {
		numbers = append(numbers, readBigint(r[0]))
	}
	return numbers
}

// countedRows is up to how many records of a partition that is dropped are counted;
// of more, PostgreSQL's estimate is told.
const countedRows = 10_000

// sqlCountPartition counts the records of a partition.
func sqlCountPartition(n int64) string {
	return fmt.Sprintf(`SELECT CASE WHEN counted < %[2]d THEN counted ELSE greatest(counted, (SELECT reltuples::bigint FROM pg_class WHERE oid = 'idempotency_%[1]d'::regclass)) END
		FROM (SELECT count(*) AS counted FROM (SELECT FROM idempotency_%[1]d LIMIT %[2]d) few) counting`, n, countedRows)
}

// sqlDropPartition drops a partition, or leaves it if that would have to wait for a
// reader, such as pg_dump, for which all others would have to wait then. That of another
// schema in the search_path is never meant.
func sqlDropPartition(n int64) string {
	return fmt.Sprintf(`DO $$BEGIN SET LOCAL lock_timeout = '100ms'; EXECUTE format('DROP TABLE %%I.idempotency_%d', current_schema()); EXCEPTION WHEN lock_not_available THEN NULL; END$$`, n)
}

// ExpireIdempotencyRecords drops the oldest partition in which all has expired, and
// empty ones before it.
func (t *tx) ExpireIdempotencyRecords(int) (int, error) {
	if t.over == nil {
		return 0, fault(errReadOnly)
	}
	rows, err := t.query([]*table{idempotency.table}, sqlPartitions)
	if err != nil {
		return 0, err
	}
	end := partitionOf(t.now.Add(-store.IdempotencyTTL))
	for _, n := range partitionNumbers(rows) {
		if n >= end {
			break
		}
		if dropped, count, err := t.dropPartition(n); err != nil || !dropped || count > 0 {
			return count, err
		}
	}
	return 0, nil
}

// dropPartition returns how many records it dropped. A partition that somebody reads
// is left for the next sweep.
func (t *tx) dropPartition(n int64) (dropped bool, count int, err error) {
	var counted, left []row
	queries := append(append(t.over.flushEarly(nil), t.over.savepoint()...), newQuery(sqlCountPartition(n)).collect(&counted), query{sql: sqlDropPartition(n)},
		query{sql: sqlLimits}, newQuery("SELECT 1::bigint WHERE to_regclass(format('%I.%s', current_schema(), $1::text)) IS NOT NULL", fmt.Sprint("idempotency_", n)).collect(&left))
	if err := t.exec(queries...); err != nil || len(left) > 0 {
		return false, 0, err
	}
	return true, int(readBigint(counted[0][0])), nil
}
