package postgres_test

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

func TestDatabases(t *testing.T) {
	one, other := postgres.New(t), postgres.New(t)
	postgres.Exec(t, one, "CREATE TABLE mine (n int); INSERT INTO mine VALUES (7)")
	if got := postgres.Exec(t, one, "SELECT n, current_user FROM mine"); len(got) != 1 || got[0][0] != "7" || got[0][1] != postgres.Owner {
		t.Errorf("it reads %v", got)
	}
	if got := postgres.Exec(t, other, "SELECT to_regclass('mine') IS NULL"); got[0][0] != "t" {
		t.Error("a test sees another's table")
	}
	server := postgres.Shared(t)
	if got := postgres.Exec(t, server.TCP(postgres.Name(t, one)), "SELECT n FROM mine"); got[0][0] != "7" {
		t.Errorf("over TCP it reads %v", got)
	}
}

// A copy has what is in the model, which is filled once, and is a database of its own.
func TestCopies(t *testing.T) {
	filled := 0
	fill := func(database string) {
		filled++
		postgres.Exec(t, database, "CREATE TABLE mine (n int); INSERT INTO mine VALUES (7)")
	}
	for range 3 {
		database := postgres.Copy(t, "mine", fill)
		if got := postgres.Exec(t, database, "SELECT sum(n), current_user FROM mine"); got[0][0] != "7" || got[0][1] != postgres.Owner {
			t.Errorf("it reads %v", got)
		}
		postgres.Exec(t, database, "INSERT INTO mine VALUES (1)")
	}
	if filled != 1 {
		t.Errorf("the model was filled %d times", filled)
	}
}

// What was committed is there after each way of stopping the server.
func TestRestart(t *testing.T) {
	server := postgres.Start(t, "log_checkpoints=off")
	database := server.Database(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	for _, mode := range []string{"smart", "fast", "immediate"} {
		postgres.Exec(t, database, "INSERT INTO mine VALUES (1)")
		server.Restart(t, mode)
	}
	if got := postgres.Exec(t, database, "SELECT count(*) FROM mine"); got[0][0] != "3" {
		t.Errorf("%s of 3 rows are there", got[0][0])
	}
	if !strings.Contains(server.Log(t), "database system was not properly shut down") {
		t.Error("a stop at once is no crash")
	}
	if got := postgres.Exec(t, database, "SHOW log_checkpoints"); got[0][0] != "off" {
		t.Error("the server lost its settings")
	}
}

func TestStandby(t *testing.T) {
	server := postgres.Start(t)
	database := server.Database(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	standby := server.Standby(t)
	if got := postgres.Exec(t, standby.URL(postgres.Owner, postgres.Name(t, database)), "SELECT pg_is_in_recovery(), count(*) FROM mine"); got[0][0] != "t" {
		t.Error("it is no standby")
	}
}

func TestPooler(t *testing.T) {
	pooled := postgres.Shared(t).Pooler(t)(postgres.New(t))
	if got := postgres.Exec(t, pooled, "BEGIN; SET LOCAL statement_timeout = '7s'; SHOW statement_timeout"); got[0][0] != "7s" {
		t.Errorf("it reads %v", got)
	}
}

// A test process that is killed leaves no server and no folder behind.
func TestKilled(t *testing.T) {
	if os.Getenv("PGTEST_CHILD") != "" {
		server := postgres.Start(t)
		fmt.Println(server.Database(t))
		select {}
	}
	postgres.Shared(t) // or skip
	child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), "PGTEST_CHILD=1")
	said, err := child.StdoutPipe()
	kit.Must(t, err)
	kit.Must(t, child.Start())
	line, _ := bufio.NewReader(said).ReadString('\n')
	database, err := url.Parse(strings.TrimSpace(line))
	kit.Must(t, err)
	folder := database.Query().Get("host")
	if _, err := os.Stat(folder + "/data/postmaster.pid"); err != nil {
		t.Fatal(err)
	}
	child.Process.Kill()
	child.Wait()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(folder); os.IsNotExist(err) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the server's folder is still there")
		}
	}
}
