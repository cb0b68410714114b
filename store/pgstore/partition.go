package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/store/rows"
)

// Rows of a kind with a Span are in partitions by their time: their keys are the clients'
// and can't rise, so that deleting them one by one would cost as much as inserting them.
// A partition is dropped as a whole, once all in it has expired.
//
// There is no default partition, which could not be dropped. They are made ahead, and
// for other times, such as those of a test's clock, by the writer when it needs them.

// partition is one of a table's, which begins number times the Span after 1970.
type partition struct {
	of     *table
	number uint64
}

func partitionOf(k *rows.Kind, at time.Time) partition {
	return partition{tableOf(k), rows.Partition(k, at)}
}

func (p partition) name() string { return fmt.Sprintf("%s_%d", p.of.name, p.number) }

// partitions are those that are known to be there. One that was dropped since is
// noticed when a row is inserted.
type partitions struct {
	mu    sync.Mutex
	known []partition
}

func (p *partitions) has(one partition) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.known, one)
}

// set sets those of a table.
func (p *partitions) set(of *table, now []partition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = append(slices.DeleteFunc(p.known, func(one partition) bool { return one.of == of }), now...)
}

// lackingError is why a group that needs partitions runs again, once they are there.
type lackingError struct{ lacking []partition }

func (e *lackingError) Error() string {
	return fmt.Sprint("there is no partition ", e.lacking[0].name())
}

// prepareAgain makes what a group lacks, and reports whether it can run again.
func (s *Store) prepareAgain(ctx context.Context, failed error) (again bool, err error) {
	if lacking, ok := errors.AsType[*lackingError](failed); ok {
		for _, p := range lacking.lacking {
			if err := s.makePartition(ctx, p); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	server, ok := errors.AsType[*pgconn.PgError](failed)
	for _, t := range partitioned(tables) {
		if ok && server.Code == "23514" && server.ConstraintName == "" && t.name == server.TableName {
			s.partitions.set(t, nil) // one was dropped; the next run notices
			return true, failed
		}
	}
	return false, failed
}

// partitioned are those of some tables that have partitions.
func partitioned(all []*table) []*table {
	return slices.DeleteFunc(slices.Clone(all), func(t *table) bool { return !t.expires() })
}

// makeAhead makes the partitions of now and of the time after it. Its errors are for
// the operator.
func (s *Store) makeAhead(ctx context.Context) error {
	for _, t := range partitioned(keptTables()) {
		for _, at := range []time.Time{s.Now(), s.Now().Add(t.of.Span)} {
			if p := partitionOf(t.of, at); !s.partitions.has(p) {
				if err := s.makePartition(ctx, p); err != nil {
					return s.target.refusal(err)
				}
			}
		}
	}
	return nil
}

// selectPartitions selects the numbers of the partitions.
func (t *table) selectPartitions() query {
	return newQuery(fmt.Sprintf("SELECT substr(c.relname, length('%[1]s_') + 1)::bigint FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '%[1]s'::regclass ORDER BY 1", t.name))
}

// makePartition makes a partition if it is not there. It waits for no reader and no writer.
func (s *Store) makePartition(ctx context.Context, p partition) error {
	return s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		lock := query{sql: "LOCK TABLE ONLY " + p.of.name + " IN SHARE UPDATE EXCLUSIVE MODE"} // keeps others from making some
		found, err := c.rows(ctx, query{sql: sqlBegin}, query{sql: sqlLimits}, lock, p.of.selectPartitions())
		if err != nil {
			return err
		}
		known, sql := p.of.partitions(found), "COMMIT"
		if !slices.Contains(known, p) {
			known, sql = append(known, p), p.sqlMake()+sql
		}
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			return err
		}
		s.partitions.set(p.of, known)
		return nil
	})
}

// sqlMake makes a partition as a table of its own first: to be made as a partition it
// would have to wait for all who read or write the others.
func (p partition) sqlMake() string {
	span := uint64(p.of.of.Span.Milliseconds())
	from := fmt.Sprint(p.number * span)
	if p.number == 0 {
		from = "MINVALUE"
	}
	return fmt.Sprintf("CREATE TABLE %[1]s (LIKE %[2]s INCLUDING ALL); ALTER TABLE %[2]s ATTACH PARTITION %[1]s FOR VALUES FROM (%[3]s) TO (%[4]d); ",
		p.name(), p.of.name, from, (p.number+1)*span)
}

// partitions are those whose numbers were selected.
func (t *table) partitions(found []row) (all []partition) {
	for _, r := range found {
		all = append(all, partition{t, readUnsigned(r[0])})
	}
	return all
}

// countedRows is up to how many rows of a partition that is dropped are counted;
// of more, PostgreSQL's estimate is told.
const countedRows = 10_000

// sqlCount counts the rows of a partition.
func (p partition) sqlCount() string {
	return fmt.Sprintf(`SELECT CASE WHEN counted < %[2]d THEN counted ELSE greatest(counted, (SELECT reltuples::bigint FROM pg_class WHERE oid = '%[1]s'::regclass)) END
		FROM (SELECT count(*) AS counted FROM (SELECT FROM %[1]s LIMIT %[2]d) few) counting`, p.name(), countedRows)
}

// sqlDrop drops a partition, or leaves it if that would have to wait for a
// reader, such as pg_dump, for which all others would have to wait then. That of another
// schema in the search_path is never meant.
func (p partition) sqlDrop() string {
	return fmt.Sprintf(`DO $$BEGIN SET LOCAL lock_timeout = '100ms'; EXECUTE format('DROP TABLE %%I.%s', current_schema()); EXCEPTION WHEN lock_not_available THEN NULL; END$$`, p.name())
}

// Expire drops the oldest partition in which all has expired, and empty ones before it.
func (t *tx) Expire(k *rows.Kind, before time.Time, _ int) (int, error) {
	if t.over == nil {
		return 0, fault(errReadOnly)
	}
	from := tableOf(k)
	var found []row
	if err := t.scan([]*table{from}, from.selectPartitions().collect(&found)); err != nil {
		return 0, err
	}
	end := rows.Partition(k, before)
	for _, p := range from.partitions(found) {
		if p.number >= end {
			break
		}
		if dropped, count, err := t.dropPartition(p); err != nil || !dropped || count > 0 {
			return count, err
		}
	}
	return 0, nil
}

// dropPartition returns how many rows it dropped. A partition that somebody reads
// is left for the next sweep.
func (t *tx) dropPartition(p partition) (dropped bool, count int, err error) {
	var counted, left []row
	queries := append(append(t.over.flushEarly(nil), t.over.savepoint()...), newQuery(p.sqlCount()).collect(&counted), query{sql: p.sqlDrop()},
		query{sql: sqlLimits}, newQuery("SELECT 1::bigint WHERE to_regclass(format('%I.%s', current_schema(), $1::text)) IS NOT NULL", p.name()).collect(&left))
	if err := t.exec(queries...); err != nil || len(left) > 0 {
		return false, 0, err
	}
	return true, int(readBigint(counted[0][0])), nil
}
