package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

func exec(c *conn, sql string) error {
	_, err := c.Exec(bg, sql).ReadAll()
	return err
}

// What each error of the database means, as the real one says it.
func TestErrors(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int PRIMARY KEY, v int); INSERT INTO mine VALUES (1, 0), (2, 0)")
	for what, c := range map[string]struct {
		make                                 func(one, other *conn) error
		code                                 string // SQLSTATE
		retryable, broken, ambiguous, demote bool
		answer                               store.Code
	}{
		"serialization": {make: func(one, other *conn) error {
			exec(one, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM mine")
			exec(other, "UPDATE mine SET v = v + 1 WHERE n = 1")
			return exec(one, "UPDATE mine SET v = v + 1 WHERE n = 1")
		}, code: "40001", retryable: true, answer: store.CodeUnavailable},
		"deadlock": {make: deadlock, code: "40P01", retryable: true, answer: store.CodeUnavailable},
		"lock timeout": {make: func(one, other *conn) error {
			exec(one, "BEGIN; UPDATE mine SET v = 1 WHERE n = 1")
			return exec(other, "BEGIN; SET LOCAL lock_timeout = 1; UPDATE mine SET v = 1 WHERE n = 1")
		}, code: "55P03", answer: store.CodeUnavailable},
		"statement timeout": {make: func(one, _ *conn) error {
			return exec(one, "BEGIN; SET LOCAL statement_timeout = 1; SELECT pg_sleep(5)")
		}, code: "57014", answer: store.CodeUnavailable},
		"terminated": {make: func(one, _ *conn) error { return exec(one, "SELECT pg_terminate_backend(pg_backend_pid())") },
			code: "57P01", broken: true, ambiguous: true, answer: store.CodeUnavailable},
		"idle in transaction": {make: func(one, _ *conn) error {
			exec(one, "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 1; SELECT 1")
			io.Copy(io.Discard, one.Conn()) // until the server has left
			return exec(one, "COMMIT")
		}, broken: true, answer: store.CodeUnavailable}, // before a byte was sent
		"cut": {make: func(one, _ *conn) error {
			one.Conn().Close()
			return exec(one, "COMMIT")
		}, broken: true, answer: store.CodeUnavailable}, // before a byte was sent
		"read-only": {make: func(one, _ *conn) error { return exec(one, "BEGIN READ ONLY; DELETE FROM mine") },
			code: "25006", demote: true, answer: store.CodeUnavailable},
		"no rights":  {make: func(one, _ *conn) error { return exec(one, "SELECT * FROM pg_authid") }, code: "42501", answer: store.CodeUnavailable},
		"syntax":     {make: func(one, _ *conn) error { return exec(one, "SELEC 1") }, code: "42601", answer: store.CodeInternal},
		"constraint": {make: func(one, _ *conn) error { return exec(one, "INSERT INTO mine VALUES (1)") }, code: "23505", answer: store.CodeInternal},
	} {
		t.Run(what, func(t *testing.T) {
			err := c.make(dialed(t, database), dialed(t, database))
			if err == nil {
				t.Fatal("there is no error")
			}
			var server *pgconn.PgError
			if errors.As(err, &server); c.code != "" && (server == nil || server.Code != c.code) {
				t.Fatalf("it is %v", err)
			}
			got := []bool{retryable(err), broken(err), ambiguous(err), demoted(err)}
			if want := []bool{c.retryable, c.broken, c.ambiguous, c.demote}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("retryable, broken, ambiguous, demoted are %v, want %v: %v", got, want, err)
			}
			if code := store.CodeOf(fault(err)); code != c.answer || !errors.Is(fault(err), err) {
				t.Errorf("it is answered as %s", code)
			}
		})
	}
}

func deadlock(one, other *conn) error {
	exec(one, "BEGIN; UPDATE mine SET v = 1 WHERE n = 1")
	exec(other, "BEGIN; UPDATE mine SET v = 1 WHERE n = 2")
	second := make(chan error, 1)
	go func() { second <- exec(other, "UPDATE mine SET v = 1 WHERE n = 1") }()
	first := exec(one, "UPDATE mine SET v = 1 WHERE n = 2")
	exec(one, "ROLLBACK")
	return errors.Join(first, <-second)
}

// The answer of a COMMIT is lost: it may be there or not.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	for d, there := range map[postgres.Direction]string{postgres.ToServer: "0", postgres.ToClient: "1"} {
		postgres.Exec(t, database, "TRUNCATE mine")
		c := dialed(t, proxy.URL(postgres.Name(t, database)))
		if err := c.run(bg, query{sql: "BEGIN"}, query{sql: "INSERT INTO mine VALUES (1)"}); err != nil {
			t.Fatal(err)
		}
		proxy.Hold(d)
		ctx, cancel := context.WithTimeout(bg, 200*time.Millisecond)
		err := c.run(ctx, query{sql: "COMMIT"})
		cancel()
		if !ambiguous(err) || retryable(err) {
			t.Errorf("held in direction %d it is not ambiguous: %v", d, err)
		}
		proxy.Cut()
		if got := postgres.Exec(t, database, "SELECT count(*) FROM mine"); got[0][0] != there {
			t.Errorf("held in direction %d: %s rows", d, got[0][0])
		}
	}
}

func TestFault(t *testing.T) {
	own := store.Errorf(store.CodeConflict, "no")
	if fault(nil) != nil || fault(own) != error(own) || !errors.Is(fault(context.Canceled), context.Canceled) {
		t.Error("what is no fault of the database is one")
	}
	if err := fault(errors.New("inner")); strings.Contains(err.(*store.Error).Text(), "inner") {
		t.Errorf("a client sees %v", err)
	}
}
