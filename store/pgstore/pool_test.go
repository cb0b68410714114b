package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

var bg = context.Background()

// ask runs one small query by a pool.
func ask(p *pool) error {
	return p.with(bg, func(ctx context.Context, c *conn) error {
		err := c.run(ctx, query{sql: "SELECT 1"})
		return err
	})
}

func TestPoolIsFixed(t *testing.T) {
	database := postgres.New(t)
	p := pooled(t, database)
	one, err := p.acquire(bg)
	kit.Must(t, err)
	other, err := p.acquire(bg)
	kit.Must(t, err)
	ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
	defer cancel()
	if _, err := p.acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third connection: %v", err)
	}
	p.release(one)
	again, err := p.acquire(bg)
	if err != nil || again != one {
		t.Errorf("the idle connection is not taken: %v", err)
	}
	p.release(again)
	p.release(other)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := ask(p); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := postgres.Exec(t, database, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'teamdata'"); got[0][0] != "2" {
		t.Errorf("there are %s connections", got[0][0])
	}
	p.close()
	if err := ask(p); !errors.Is(err, errPoolClosed) {
		t.Errorf("closed, it says %v", err)
	}
}

// A transaction that its user left open is not the next one's.
func TestReleaseRollsBack(t *testing.T) {
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	p := pooled(t, database)
	for _, failing := range []string{"SELECT 1", "SELECT 1/0"} {
		var used *conn
		p.with(bg, func(ctx context.Context, c *conn) error {
			used = c
			err := c.run(ctx, query{sql: "BEGIN"}, query{sql: "INSERT INTO mine VALUES (1)"}, query{sql: failing})
			return err
		})
		p.with(bg, func(_ context.Context, c *conn) error {
			if c != used || c.TxStatus() != 'I' {
				t.Errorf("behind %s it is another connection, or in state %c", failing, c.TxStatus())
			}
			return nil
		})
	}
	if got := postgres.Exec(t, database, "SELECT count(*) FROM mine"); got[0][0] != "0" {
		t.Errorf("%s rows were committed", got[0][0])
	}
}

// After a restart of the server the first user of a dead connection sees it, and
// nobody else.
func TestPoolAfterRestart(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	p := pooled(t, server.Database(t))
	one, _ := p.acquire(bg)
	other, err := p.acquire(bg)
	kit.Must(t, err)
	p.release(one)
	p.release(other)
	server.Restart(t, "immediate")
	if err := ask(p); !broken(err) || retryable(err) {
		t.Errorf("on a dead connection: %v", err)
	}
	if err := ask(p); err != nil {
		t.Errorf("on the next: %v", err)
	}
	server.Stop(t, "immediate")
	ask(p)
	checkRefusal(t, ask(p), "is down")
	server.Start(t)
	if err := ask(p); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

// A link that hangs costs the time of an answer and no more; the caller that goes away costs
// nothing.
func TestHungLink(t *testing.T) {
	t.Parallel()
	const answer = 500 * time.Millisecond
	for _, d := range []postgres.Direction{postgres.ToServer, postgres.ToClient} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			t.Parallel()
			proxy := postgres.NewProxy(t, postgres.Shared(t))
			p := pooled(t, proxy.URL(postgres.Name(t, postgres.New(t))))
			kit.Must(t, ask(p))
			p.answer = answer
			proxy.Hold(d)
			start := time.Now()
			err := ask(p)
			if took := time.Since(start); !broken(err) || took < answer || took > answer+3*time.Second {
				t.Errorf("it took %v: %v", took, err)
			}
			proxy.Resume(d)
			if err := ask(p); err != nil {
				t.Error(err)
			}
		})
	}
}

// When a standby takes over, the pool finds it.
func TestFailover(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	primary := postgres.Start(t)
	database := primary.Database(t)
	name := postgres.Name(t, database)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	standby := primary.Standby(t)
	p := pooled(t, strings.Replace(primary.TCP(name), "@127.0.0.1:", fmt.Sprintf("@127.0.0.1:%d,127.0.0.1:", standby.Port), 1))
	insert := func() error {
		return p.with(bg, func(ctx context.Context, c *conn) error {
			err := c.run(ctx, query{sql: "INSERT INTO mine VALUES (1)"})
			return err
		})
	}
	kit.Must(t, insert())
	primary.Stop(t, "immediate")
	if err := insert(); !broken(err) {
		t.Errorf("without a primary: %v", err)
	}
	checkRefusal(t, insert(), "is a standby")
	standby.Promote(t)
	if err := insert(); err != nil {
		t.Errorf("after the failover: %v", err)
	}
}

// A primary that was demoted while connections to it are open.
func TestDemoted(t *testing.T) {
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n int)")
	p := pooled(t, database)
	var used *conn
	for _, refused := range []bool{true, false} {
		err := p.with(bg, func(ctx context.Context, c *conn) error {
			if refused {
				used = c
				exec(c, "SET default_transaction_read_only = on")
			}
			err := c.run(ctx, query{sql: "INSERT INTO mine VALUES (1)"})
			return err
		})
		if demoted(err) != refused || !used.IsClosed() {
			t.Errorf("refused %v: %v", refused, err)
		}
	}
}

func TestCallerGoesAway(t *testing.T) {
	p := pooled(t, postgres.New(t))
	ctx, cancel := context.WithCancel(bg)
	var used *conn
	err := p.with(ctx, func(ctx context.Context, c *conn) error {
		used = c
		cancel()
		err := c.run(ctx, query{sql: "SELECT 1"})
		return err
	})
	if err != nil || used.IsClosed() {
		t.Errorf("what had begun ended: %v", err)
	}
}

// The login of a caller that goes away is the next one's, or a database that is slow to
// answer would never have anything but logins.
func TestLoginGoesOn(t *testing.T) {
	t.Parallel()
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	p := pooled(t, proxy.URL(postgres.Name(t, postgres.New(t))))
	p.tokens = make(chan struct{}, 1) // the second caller waits for the first one's
	proxy.Hold(postgres.ToClient)
	ctx, cancel := context.WithCancel(bg)
	failed := make(chan error)
	go func() {
		_, err := p.acquire(ctx)
		failed <- err
	}()
	for deadline := time.Now().Add(10 * time.Second); proxy.Counts().Connections == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that went away: %v", err)
	}
	proxy.Resume(postgres.ToClient)
	if err := ask(p); err != nil {
		t.Error(err)
	}
	if n := proxy.Counts().Connections; n != 1 {
		t.Errorf("there were %d logins", n)
	}
}

// A database that refuses its server isn't asked by each request.
func TestLoginsThatFail(t *testing.T) {
	t.Parallel()
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	name := postgres.Name(t, postgres.New(t))
	p := pooled(t, proxy.URL(name+"_not_there"))
	began := time.Now()
	var asked atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for asked.Add(1) < 200 {
				checkRefusal(t, ask(p), "does not exist")
			}
		})
	}
	all.Wait()
	most := cap(p.tokens) + 1 + int(time.Since(began)/loginPause)
	if n := proxy.Counts().Connections; n > most {
		t.Errorf("%d logins, more than %d", n, most)
	}
	p.target, _ = ParseTarget(proxy.URL(name))
	if err := ask(p); err != nil {
		t.Errorf("the database that is there: %v", err)
	}
}

// The limits hold for their transaction alone, directly and by a pooler.
func TestLimits(t *testing.T) {
	database := postgres.New(t)
	for name, u := range map[string]struct{ database, outside string }{
		"direct": {database, "[8s 5s 5s]"}, // the session's own
		"pooler": {postgres.Shared(t).Pooler(t)(database), "[0 0 0]"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pooled(t, u.database)
			show := query{sql: "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')"}
			var got []string
			show.row = func(v [][]byte) error { got = append(got, fmt.Sprintf("%s", v)); return nil }
			err := p.with(bg, func(ctx context.Context, c *conn) error {
				err := c.run(ctx, query{sql: "BEGIN"}, query{sql: sqlLimits}, show, query{sql: "COMMIT"},
					query{sql: "BEGIN"}, query{sql: sqlGroupLimits}, show, query{sql: "COMMIT"}, query{sql: "BEGIN"}, query{sql: sqlLongLimits}, show, query{sql: "COMMIT"}, show)
				return err
			})
			if want := "[[8s 5s 5s] [8s 5s 2s] [0 1min 1min] " + u.outside + "]"; err != nil || fmt.Sprint(got) != want {
				t.Errorf("%v: %s, want %s", err, got, want)
			}
		})
	}
}
