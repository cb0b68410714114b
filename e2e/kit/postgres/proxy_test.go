package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

func connect(t *testing.T, proxy *postgres.Proxy, database string) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), proxy.URL(database))
	kit.Must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func ask(conn *pgconn.PgConn, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return conn.Exec(ctx, "SELECT 1").Close()
}

func TestProxyDelays(t *testing.T) {
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	conn := connect(t, proxy, postgres.Name(t, postgres.New(t)))
	before := proxy.Counts()
	proxy.Delay(20 * time.Millisecond)
	start := time.Now()
	for range 5 {
		kit.Must(t, ask(conn, time.Minute))
	}
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("5 round trips of 40 ms took %v", took)
	}
	counts := proxy.Counts()
	if counts.Connections != 1 || counts.RoundTrips-before.RoundTrips != 5 || counts.Bytes[postgres.ToServer] == 0 || counts.Bytes[postgres.ToClient] == 0 {
		t.Errorf("counted are %+v, and before %+v", counts, before)
	}
}

// What is held in one direction has happened in the other.
func TestProxyHolds(t *testing.T) {
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	for d, want := range map[postgres.Direction]string{postgres.ToServer: "0", postgres.ToClient: "1"} {
		postgres.Exec(t, database, "TRUNCATE mine")
		conn := connect(t, proxy, postgres.Name(t, database))
		proxy.Hold(d)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := conn.Exec(ctx, "INSERT INTO mine VALUES (1)").Close(); err == nil {
			t.Error("the answer came")
		}
		cancel()
		if n := proxy.Cut(); n == 0 {
			t.Error("there was nothing to cut")
		}
		if got := postgres.Exec(t, database, "SELECT count(*) FROM mine"); got[0][0] != want {
			t.Errorf("held in direction %d: %s rows", d, got[0][0])
		}
	}
	conn := connect(t, proxy, postgres.Name(t, database))
	proxy.Hold(postgres.ToClient)
	answer := make(chan error, 1)
	go func() { answer <- ask(conn, time.Minute) }()
	select {
	case err := <-answer:
		t.Errorf("the answer came: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	proxy.Resume(postgres.ToClient)
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

func TestProxyCuts(t *testing.T) {
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	name := postgres.Name(t, postgres.New(t))
	one, other := connect(t, proxy, name), connect(t, proxy, name)
	if n := proxy.Cut(); n != 2 {
		t.Errorf("%d connections were cut", n)
	}
	for _, conn := range []*pgconn.PgConn{one, other} {
		if ask(conn, time.Minute) == nil {
			t.Error("a connection that was cut still answers")
		}
	}
	if err := ask(connect(t, proxy, name), time.Minute); err != nil {
		t.Error(err)
	}
}
