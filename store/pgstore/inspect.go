package pgstore

import (
	"context"
	"time"

	"teamdata/store"
)

// Inspection is the state of a database and of its server, as far as its role may see
// it.
type Inspection struct {
	Version        string // such as 15.4
	Sync           bool   // fsync: what is committed is on the disk
	CommitSync     string // synchronous_commit
	Isolation      string // default_transaction_isolation of the role, which no transaction of ours has
	MaxConnections int    // less those that are kept for superusers
	Connections    int    // in use, of all databases of the server
	Standbys       int
	SyncStandbys   string        // synchronous_standby_names
	Offset         time.Duration // how far the database's clock is ahead of ours
	RoundTrip      time.Duration // of the fastest of a few questions
	OldestRead     time.Duration // age of the oldest transaction that keeps dead rows
	Live, Dead     int64         // rows of its tables
	Size           int64         // bytes
	Full           bool          // the disk of its tables has no room for more
	Pooled         bool          // a pooler is in between
	Unusable       error         // why the tables can't be used, for the operator; nil: they can, or serve makes them
	Nodes          []store.Node  // by name, with those that were lost within the last hour
}

const sqlInspect = `SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
	current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
	(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' OR backend_type IS NULL),
	(SELECT count(*) FROM pg_stat_replication),
	current_setting('synchronous_standby_names'),
	(SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000, 0)::bigint FROM pg_stat_activity
		WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()),
	(SELECT coalesce(sum(n_live_tup), 0)::bigint FROM pg_stat_user_tables),
	(SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables),
	pg_database_size(current_database()),
	(SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_isolation')`

// Inspect looks at the database of a target and changes nothing. The error is why it
// can't be reached, for the operator.
func Inspect(ctx context.Context, target *Target) (i Inspection, err error) {
	p := newPool(target, 1)
	defer p.close()
	err = p.with(ctx, func(ctx context.Context, c *conn) error {
		rows, err := c.rows(ctx, newQuery(sqlInspect))
		if err != nil {
			return target.refusal(err)
		}
		r := rows[0]
		i = Inspection{
			Version: string(r[0]), Sync: string(r[1]) == "on", CommitSync: string(r[2]),
			MaxConnections: int(readBigint(r[3])), Connections: int(readBigint(r[4])),
			Standbys: int(readBigint(r[5])), SyncStandbys: string(r[6]),
			OldestRead: time.Duration(readBigint(r[7])) * time.Millisecond,
			Live:       readBigint(r[8]), Dead: readBigint(r[9]), Size: readBigint(r[10]), Isolation: string(r[11]), Pooled: c.server.pooled,
		}
		i.Offset, i.RoundTrip, err = measureOffset(ctx, c)
		return target.refusal(err)
	})
	if err != nil {
		return i, err
	}
	i.Full = diskFull(p.room(ctx))
	i.Unusable = p.with(ctx, func(ctx context.Context, c *conn) error {
		_, err := readUsable(ctx, c, ownMigrations(), upgrading)
		return target.refusal(err)
	})
	if i.Unusable != nil {
		return i, nil
	}
	there, err := p.rows(ctx, newQuery("SELECT 1::bigint WHERE to_regclass('nodes') IS NOT NULL"))
	if err == nil && len(there) > 0 {
		i.Nodes, err = p.nodes(ctx, new(sight))
	}
	return i, target.refusal(err)
}

// measureOffset compares the clocks in the middle of the fastest of a few round trips, and
// returns how long that one took.
func measureOffset(ctx context.Context, c *conn) (offset, roundTrip time.Duration, err error) {
	for i := range 5 {
		asked := time.Now()
		rows, err := c.rows(ctx, newQuery(sqlClock))
		if err != nil {
			return 0, 0, err
		}
		if took := time.Since(asked); i == 0 || took < roundTrip {
			offset, roundTrip = readTime(rows[0][0]).Sub(asked.Add(took/2)), took
		}
	}
	return offset, roundTrip, nil
}
