package database_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// A database that refuses its server costs 503s, for as long as that lasts.
func TestDatabaseRefuses(t *testing.T) {
	t.Parallel()
	const cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%[1]s' AND usename = '%[2]s'; "
	for name, fault := range map[string]struct{ begin, end string }{
		"renamed": {
			"ALTER DATABASE %[1]s WITH ALLOW_CONNECTIONS false; " + cut + "SELECT pg_sleep(0.2); ALTER DATABASE %[1]s RENAME TO %[1]s_old",
			"ALTER DATABASE %[1]s_old RENAME TO %[1]s; ALTER DATABASE %[1]s WITH ALLOW_CONNECTIONS true",
		},
		"no connection left": {
			"ALTER DATABASE %[1]s CONNECTION LIMIT 0; " + cut,
			"ALTER DATABASE %[1]s CONNECTION LIMIT -1",
		},
		"the role may not log in": {
			"ALTER ROLE %[2]s NOLOGIN; " + cut,
			"ALTER ROLE %[2]s LOGIN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "renamed" {
				kit.NotEveryDay(t)
			}
			t.Parallel()
			pg := postgres.Start(t)
			database := pg.Database(t)
			c := newTraffic(t, program.InDatabase(t, database))
			c.flows(50)
			on := func(script string) {
				for _, statement := range strings.Split(fmt.Sprintf(script+"%.0[1]s%.0[2]s", postgres.Name(t, database), postgres.Owner), "; ") {
					if strings.TrimSpace(statement) != "" {
						pg.Exec(t, statement)
					}
				}
			}
			on(fault.begin)
			c.server.AwaitHealth(http.StatusServiceUnavailable, "commit: the database")
			c.refused(20)
			on(fault.end)
			c.server.AwaitHealth(http.StatusOK, "")
			c.flows(50)
			c.end()
		})
	}
}

// A database whose disk is full takes no writes, answers reads, and goes on when there
// is room again. A server that nobody writes to isn't ready meanwhile either.
func TestDatabaseDiskFull(t *testing.T) {
	t.Parallel()
	disk := kit.SmallDisk(t, "40m")
	pg := postgres.Start(t)
	onDisk := func(name string) (database string) {
		folder := filepath.Join(disk, name)
		kit.Must(t, os.Mkdir(folder, 0o700))
		database = pg.Database(t)
		pg.Move(t, database, folder)
		return database
	}
	database := onDisk("busy")
	idle := program.InDatabase(t, onDisk("idle")).Serve("--http")
	c := newTraffic(t, program.InDatabase(t, database))
	c.flows(50)
	ballast := filepath.Join(disk, "ballast")
	kit.Fill(t, ballast)
	c.refused(200)
	const full = "commit: the disk of the database is full"
	c.server.AwaitHealth(http.StatusServiceUnavailable, full)
	idle.AwaitHealth(http.StatusServiceUnavailable, full)
	for range 3 {
		c.refused(100)
		if status, body := c.server.Health(server.ReadyPath); status != http.StatusServiceUnavailable || !strings.Contains(body, full) {
			t.Errorf("while it refuses each write it says %d %s", status, body)
		}
	}
	doctor := []string{"doctor", "--data", database, "--state-dir", t.TempDir(), "--listen", "127.0.0.1:0"}
	program.Says(t, 1, doctor, "the disk of the database is full", "make room there")
	if a := c.server.Must("GET", "/members", program.ReadKey); a.Status != http.StatusOK {
		t.Errorf("a read is answered %d %s", a.Status, a.Body)
	}
	kit.Must(t, os.Remove(ballast))
	program.Says(t, 0, doctor, "its disk has room")
	idle.AwaitHealth(http.StatusOK, "")
	idle.StopWell()
	c.flows(50)
	c.server.AwaitHealth(http.StatusOK, "")
	c.end()
}
