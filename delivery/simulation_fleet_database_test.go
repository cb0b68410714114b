package delivery_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/store"
)

// simulatedClock replaces the clock of a database for sessions with simulatedPath.
const (
	simulatedClock = `CREATE SCHEMA simulated; CREATE UNLOGGED TABLE simulated.clock (ms bigint); INSERT INTO simulated.clock VALUES (0);
CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT to_timestamp(ms / 1000.0) FROM simulated.clock';
CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT to_timestamp(ms / 1000.0) FROM simulated.clock'`
	simulatedPath = "search_path=public%2Csimulated%2Cpg_catalog"
	tick          = 100 * time.Millisecond // of the clock
)

// clockedDatabase is the database of a fleet, by a way that no fault touches. It makes the
// time of the database that of the simulation, but for how far it is set ahead.
type clockedDatabase struct {
	testing.TB
	mu    sync.Mutex
	conn  *pgconn.PgConn
	ahead time.Duration
	stop  context.CancelFunc
	ticks sync.WaitGroup
}

func connectClocked(t testing.TB, url string) *clockedDatabase {
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	d := &clockedDatabase{TB: t, conn: conn, stop: stop}
	d.jump(0)
	d.ticks.Go(func() {
		for ticker := time.NewTicker(tick); ; {
			select {
			case <-ticker.C:
				d.set()
			case <-ctx.Done():
				ticker.Stop()
				return
			}
		}
	})
	return d
}

// jump sets the clock ahead of the simulation's, and returns how far it jumped.
func (d *clockedDatabase) jump(ahead time.Duration) (by time.Duration) {
	d.mu.Lock()
	by, d.ahead = ahead-d.ahead, ahead
	d.mu.Unlock()
	d.set()
	return by
}

func (d *clockedDatabase) set() {
	d.mu.Lock()
	ms := time.Now().Add(d.ahead).UnixMilli()
	d.mu.Unlock()
	d.rows(fmt.Sprintf("UPDATE simulated.clock SET ms = %d", ms))
}

func (d *clockedDatabase) rows(sql string) [][][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	results, err := d.conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		d.Error(err)
		return nil
	}
	return results[0].Rows
}

// token is that of who has the shard of an endpoint.
func (d *clockedDatabase) token(endpoint uint64) (token uint64) {
	rows := d.rows(fmt.Sprintf("SELECT token FROM leases WHERE name = 'shard %02d'", endpoint%store.Shards))
	if len(rows) == 1 {
		token, _ = strconv.ParseUint(string(rows[0][0]), 10, 64)
	}
	return token
}

// overdue are the deliveries that are due for longer, and the endpoints that they wait for.
func (d *clockedDatabase) overdue(longer time.Duration) map[string]uint64 {
	all := map[string]uint64{}
	for _, row := range d.rows(fmt.Sprintf(`SELECT convert_from(d.key, 'UTF8'), encode(e.key, 'hex'), encode(e.value, 'hex') FROM deliveries d JOIN endpoints e ON e.endpoint_numbers = substring(d.place FOR 8)
		WHERE get_byte(d.place, 8) = 2 AND substring(d.place FROM 10 FOR 8) < int8send((SELECT ms FROM simulated.clock) - %d)`, longer.Milliseconds())) {
		key, _ := hex.DecodeString(string(row[1]))
		value, _ := hex.DecodeString(string(row[2]))
		e, err := store.ReadEndpoint(key, value)
		if err != nil {
			d.Error(err)
		} else if !e.Disabled() {
			all[string(row[0])] = e.Number
		}
	}
	return all
}

func (d *clockedDatabase) close() {
	d.stop()
	d.ticks.Wait()
	d.conn.Close(context.Background())
}
