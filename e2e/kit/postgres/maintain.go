package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
)

// connection is one of the superuser. All databases of the test process are made over one,
// since connecting takes the server about as long as making a database.
type connection struct {
	sync.Mutex
	*pgconn.PgConn
	major int // version of the server
}

func (s *Server) connect(t testing.TB) *connection {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), s.URL(superuser, "postgres"))
	kit.Must(t, err)
	c := &connection{PgConn: conn}
	_, err = fmt.Sscanf(conn.ParameterStatus("server_version"), "%d", &c.major)
	kit.Must(t, err)
	return c
}

// maintain makes or drops a database.
func (s *Server) maintain(t testing.TB, sql string) {
	t.Helper()
	if s.kept == nil {
		s.Exec(t, sql)
		return
	}
	s.kept.Lock()
	defer s.kept.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	execute(ctx, t, s.kept.PgConn, sql)
}

// copying is how a new database is made out of the template: where nothing is synced, by
// copying its files, which takes half as long as writing all of it to the log.
func (s *Server) copying() string {
	if s.kept == nil || s.kept.major < 15 {
		return ""
	}
	return " STRATEGY FILE_COPY"
}

// Copy makes a database as [New] does, with what is in one that fill has filled: copying
// what takes many statements to make costs hardly more than an empty database. Fill runs
// once a name in a test process, and leaves no connection behind.
func Copy(t testing.TB, name string, fill func(database string)) string {
	t.Helper()
	s := Shared(t)
	s.filling.Lock()
	defer s.filling.Unlock()
	model, filled := s.models[name]
	if !filled {
		model = s.create(t, "template0")
		fill(s.URL(Owner, model))
		s.models[name] = model
	}
	return s.dropAfter(t, s.create(t, model))
}
