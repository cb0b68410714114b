// Package postgres starts PostgreSQL for tests: one server a test process, and a
// database of its own for each test. A test that stops or restarts its server, or
// wants other settings, starts one by [Start]. The servers end with the test process,
// however it ends. Where PostgreSQL is not installed those tests skip, and in CI fail.
package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
)

// Owner is the role of the tests: it owns the databases and has no other right.
// Over TCP it needs Password, over the Unix socket none.
const (
	Owner    = "teamdata"
	Password = "pgtest-password"
)

// shared are the servers of the test process. That of tests does not sync, since no test
// may crash it; that of benchmarks does.
var shared struct {
	sync.Mutex
	server [2]*Server
}

// New makes a database on the server of the test process and returns its URL, over
// the Unix socket. The database is dropped when the test ends.
func New(t testing.TB) string {
	t.Helper()
	return Shared(t).Database(t)
}

// Shared is the server of the test process, which no test may stop.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	which, settings := 0, []string{"fsync=off", "full_page_writes=off"}
	if isBenchmark(t) {
		which, settings = 1, nil
	}
	if shared.server[which] == nil {
		s := newServer(t)
		s.settings = settings
		s.initialize(t)
		s.Start(t)
		if which == 0 {
			s.kept = s.connect(t)
		}
		shared.server[which] = s
	}
	return shared.server[which]
}

func isBenchmark(t testing.TB) bool {
	_, is := t.(*testing.B)
	return is
}

// Start starts a server of the test's own, which ends with the test. Settings are
// lines of its configuration, such as "ssl=on".
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := newServer(t)
	t.Cleanup(s.close)
	s.settings = settings
	s.initialize(t)
	s.Start(t)
	return s
}

var databases atomic.Int64

// Database makes a database of [Owner] and returns its URL, over the Unix socket. It
// is dropped when the test ends, if the server still runs then.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.dropAfter(t, s.create(t, "template0"))
}

// create makes a database of [Owner] out of another one, to which nobody is connected, and
// returns its name.
func (s *Server) create(t testing.TB, template string) (name string) {
	t.Helper()
	name = fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	s.maintain(t, fmt.Sprintf("CREATE DATABASE %s OWNER %s TEMPLATE %s", name, Owner, template)+s.copying())
	return name
}

// dropAfter drops a database when the test ends, and returns its URL.
func (s *Server) dropAfter(t testing.TB, name string) (databaseURL string) {
	t.Helper()
	t.Cleanup(func() {
		if s.cmd != nil {
			s.maintain(t, fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name))
		}
	})
	return s.URL(Owner, name)
}

// Move puts a database, which nobody uses, into a folder of a disk of its own.
func (s *Server) Move(t testing.TB, databaseURL, folder string) {
	t.Helper()
	own(t, folder)
	name := Name(t, databaseURL)
	s.Exec(t, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, folder))
	s.Exec(t, fmt.Sprintf("ALTER DATABASE %[1]s SET TABLESPACE %[1]s", name))
}

// URL is that of a database for a role, over the Unix socket.
func (s *Server) URL(role, database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=%d", role, database, url.QueryEscape(s.folder), s.Port)
}

// TCP is the URL of a database over the loopback address, for [Owner] with its
// password. Without more, the server does not support TLS.
func (s *Server) TCP(database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s", Owner, Password, s.Port, database)
}

// Name is that of the database of a URL.
func Name(t testing.TB, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	kit.Must(t, err)
	return u.Path[1:]
}

// Exec runs statements as the superuser, in the database postgres.
func (s *Server) Exec(t testing.TB, sql string) {
	t.Helper()
	Exec(t, s.URL(superuser, "postgres"), sql)
}

// Exec runs statements in the database of a URL, and returns the rows of the last
// one as text.
func Exec(t testing.TB, databaseURL, sql string) [][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, databaseURL)
	kit.Must(t, err)
	defer conn.Close(ctx)
	return execute(ctx, t, conn, sql)
}

func execute(ctx context.Context, t testing.TB, conn *pgconn.PgConn, sql string) (rows [][]string) {
	t.Helper()
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for _, row := range results[len(results)-1].Rows {
		var texts []string
		for _, value := range row {
			texts = append(texts, string(value))
		}
		rows = append(rows, texts)
	}
	return rows
}
