package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"teamdata/app"
	"teamdata/internal/terminal"
	"teamdata/store"
)

const (
	clockWarning  = 2 * time.Second // that the database's clock may differ by
	clockProblem  = store.MaxClockOffset
	oldSnapshot   = time.Minute // keeps rows that were rewritten since from being cleaned up
	fewDead       = 100_000     // rows, that are no matter however few are alive
	deadPerLive   = 1           // more dead rows than live ones
	spareSessions = 3           // for pg_dump, psql and the like
)

// checkDatabase checks the database in place of a data file.
func (d *doctor) checkDatabase(ctx context.Context) {
	i, warning, err := app.Inspect(ctx, d.Data)
	if err != nil {
		d.refused(err)
		return
	}
	d.ok("%s answers in %s: PostgreSQL %s, %d bytes", app.Place(d.Data), i.RoundTrip.Round(10*time.Microsecond), i.Version, i.Size)
	if warning != "" {
		d.warn("see docs/postgresql.md", "%s", warning)
	}
	if d.database = i.Unusable == nil; !d.database {
		d.refused(i.Unusable)
	}
	d.checkRoom(i)
	d.checkDurability(i)
	d.checkIsolation(i)
	d.checkConnections(i)
	d.checkNodes(i)
	d.checkDatabaseClock(i)
	d.checkCleaning(i)
}

// checkRoom reports a database that takes no changes, since its disk is full.
func (d *doctor) checkRoom(i app.Inspection) {
	if i.Full {
		d.problem("make room there: until then each change is answered with 503", "the disk of the database is full")
		return
	}
	d.ok("its disk has room")
}

// checkDurability reports what can lose a commit that was acknowledged.
func (d *doctor) checkDurability(i app.Inspection) {
	switch {
	case !i.Sync:
		d.problem("set fsync = on in postgresql.conf", "fsync is off: a power cut damages the database")
	case i.CommitSync == "off":
		d.problem("set synchronous_commit = on for the server, the database or the role", "synchronous_commit is off: a crash of PostgreSQL loses changes that were acknowledged")
	case i.Standbys > 0 && i.SyncStandbys == "":
		d.warn("set synchronous_standby_names, so that a commit waits for a standby too",
			"THE STANDBY IS ASYNCHRONOUS: a failover to it loses the last changes that were acknowledged, and their webhooks may be out already")
	case i.Standbys > 0 && i.CommitSync == "local":
		d.warn("set synchronous_commit = on", "synchronous_commit is local: commits don't wait for the standby, and a failover to it loses changes that were acknowledged")
	default:
		d.ok("commits are on the disk when they are acknowledged (fsync on, synchronous_commit %s)", i.CommitSync)
	}
}

// checkIsolation reports a default of the role that teamdata does not go by.
func (d *doctor) checkIsolation(i app.Inspection) {
	if i.Isolation != "read committed" {
		d.ok("transactions are read committed, which their locks are made for; the role's default, %s, counts for others", i.Isolation)
	}
}

// checkConnections counts those of all nodes.
func (d *doctor) checkConnections(i app.Inspection) {
	nodes := d.willRun(i.Nodes)
	most := fmt.Sprintf("%s may open up to %d", terminal.Count(nodes, "node"), nodes*app.DatabaseConnections)
	switch {
	case i.Pooled:
		d.ok("a pooler shares out the connections")
	case i.MaxConnections < nodes*app.DatabaseConnections+spareSessions:
		d.problem("raise max_connections in postgresql.conf", "the server takes %d connections, and %s", i.MaxConnections, most)
	case !d.served && i.MaxConnections-i.Connections < app.DatabaseConnections+spareSessions:
		d.warn("raise max_connections, or let others use fewer", "of the %d connections that the server takes, %d are in use, and serve opens up to %d", i.MaxConnections, i.Connections, app.DatabaseConnections)
	default:
		d.ok("%d of %d connections are in use; %s", i.Connections, i.MaxConnections, most)
	}
}

func (d *doctor) checkDatabaseClock(i app.Inspection) {
	off := i.Offset.Abs().Round(time.Millisecond)
	switch {
	case off > clockProblem:
		d.problem("synchronize both machines with the same NTP servers", "the clocks of this machine and of the database differ by %s", off)
	case off > clockWarning:
		d.warn("synchronize both machines with the same NTP servers", "the clocks of this machine and of the database differ by %s", off)
	default:
		d.ok("its clock and this machine's differ by %s", off)
	}
}

// checkCleaning reports what keeps PostgreSQL from cleaning up rows that were
// rewritten, which makes the queue slow.
func (d *doctor) checkCleaning(i app.Inspection) {
	switch {
	case i.OldestRead > oldSnapshot:
		d.warn("find it in pg_stat_activity, by xact_start, and end it", "a transaction has been open for %s, and keeps rows from being cleaned up", i.OldestRead.Round(time.Second))
	case i.Dead > fewDead && i.Dead > deadPerLive*i.Live:
		d.warn("run VACUUM, and let autovacuum run more often", "%d rows are dead beside %d that are alive", i.Dead, i.Live)
	default:
		d.ok("%d dead rows beside %d that are alive", i.Dead, i.Live)
	}
}

// checkRecords checks what is in the database, as check does.
func (d *doctor) checkRecords(ctx context.Context) {
	if !d.database {
		d.ok("not checked")
		return
	}
	first, faults := "", 0
	err := app.Check(ctx, d.Data, func(fault string) {
		if faults++; faults == 1 {
			first = fault
		}
	})
	switch {
	case err != nil && strings.Contains(err.Error(), "is empty"):
		d.ok("none yet")
	case err != nil:
		d.refused(err)
	case faults > 0:
		d.problem("restore the database from a backup", "the records are damaged, %s, first: %s", terminal.Count(faults, "fault"), first)
	default:
		d.sound = true
		d.ok("the records are sound")
	}
}

// checkStateDir checks the folder of what a server keeps beside its database.
func (d *doctor) checkStateDir(context.Context) {
	folder := d.StateDir
	if folder == "" {
		folder = "."
	}
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.problem("make it for this user: mkdir -p -m 0700 "+terminal.ShellWord(folder), "the folder of --state-dir doesn't exist: %s", folder)
	case err != nil || !info.IsDir():
		d.problem("name a folder with --state-dir", "%s is not a folder", folder)
	default:
		d.ok("the socket and the CA's certificate go to %s", folder)
	}
}
