package database_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// While the database is away the server lives on and says why it isn't ready; writes
// and reads are answered 503; deliveries wait. It comes back by itself, with what was
// acknowledged, without what was not, and with no attempt used up.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	data := program.InDatabase(t, pg.Database(t))
	c := newTraffic(t, data)
	c.flows(100)
	pg.Stop(t, "immediate")
	away := time.Now()
	p := c.server
	p.AwaitHealth(http.StatusServiceUnavailable, "commit: the database")
	if status, body := p.Health(server.LivePath); status != http.StatusOK {
		t.Errorf("it does not live: %d %s", status, body)
	}
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || strings.Contains(a.Body, "down") {
		t.Errorf("a read is answered %d %v %s", a.Status, a.Header, a.Body)
	}
	add := data.Command("member", "add", "usr_new", "--org", "org_acme", "--role", "member")
	if out, err := program.Run(t, add...); err == nil || !strings.Contains(out, "can't be used right now: ") || !strings.Contains(out, "is down") {
		t.Errorf("a write: %v %s", err, out)
	}
	if took := time.Since(away); took > 10*time.Second {
		t.Errorf("it took %v until it said that the database is away", took)
	}
	<-time.After(time.Until(away.Add(3 * time.Second))) // in which outcomes and retries come up

	pg.Start(t)
	back := time.Now()
	c.flows(1)
	t.Logf("the first write was accepted %v after the database was back", time.Since(back).Round(time.Millisecond))
	p.AwaitHealth(http.StatusOK, "")
	program.MustRun(t, add...)
	c.flows(100)
	c.end()

	pg.Stop(t, "immediate")
	if out, err := program.Run(t, "serve", "--data", data.At, "--state-dir", t.TempDir(), "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(out, "is down") {
		t.Errorf("a start without the database: %v %s", err, out)
	}
}

// A link that hangs, with what is sent or with what is answered, and recovers or is cut.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]struct {
		held postgres.Direction
		cut  bool
	}{"requests": {postgres.ToServer, false}, "answers": {postgres.ToClient, false}, "answers, and cut": {postgres.ToClient, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg := postgres.Shared(t)
			proxy := postgres.NewProxy(t, pg)
			c := newTraffic(t, program.InDatabase(t, postgres.PasswordApart(t, proxy.URL(postgres.Name(t, pg.Database(t))))))
			c.flows(100)
			proxy.Hold(hang.held)
			<-time.After(3 * time.Second)
			if hang.cut {
				proxy.Cut()
			} else {
				proxy.Resume(hang.held)
			}
			c.flows(100)
			c.end()
		})
	}
}

// A server whose link to the database hangs stops within its time, and says why it did
// not end as it should.
func TestStopWhileDatabaseHangs(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	pg := postgres.Shared(t)
	proxy := postgres.NewProxy(t, pg)
	p := program.InDatabase(t, postgres.PasswordApart(t, proxy.URL(postgres.Name(t, pg.Database(t))))).Serve("--http")
	p.AwaitHealth(http.StatusOK, "")
	proxy.Hold(postgres.ToServer)
	began := time.Now()
	err := p.Stop()
	if says := p.Out.String(); err == nil || !strings.Contains(says, "the data did not answer") && !strings.Contains(says, "does not answer in time") {
		t.Errorf("it ended with %v, and says\n%s", err, says)
	}
	if took := time.Since(began); took > app.StopGrace+5*time.Second {
		t.Errorf("it took %v, and says\n%s", took, p.Out)
	}
}

// A standby that only reads is refused in words, and not for good: a server that starts
// before it takes over only has to be started again. The server of all hosts goes on by
// itself when it takes over, and nothing is lost if the primary has sent it all.
func TestDatabaseFailover(t *testing.T) {
	t.Parallel()
	primary := postgres.Start(t)
	name := postgres.Name(t, primary.Database(t))
	standby := primary.Standby(t)
	both := strings.Replace(primary.TCP(name), "@", fmt.Sprintf("@127.0.0.1:%d,", standby.Port), 1)
	c := newTraffic(t, program.InDatabase(t, postgres.PasswordApart(t, both)))
	c.flows(100)
	alone := []string{"serve", "--data", postgres.PasswordApart(t, standby.TCP(name)), "--state-dir", t.TempDir(), "--listen", "127.0.0.1:0"}
	program.Refused(t, 1, "is a standby, which only reads; give the primary in --data", alone...)

	primary.Stop(t, "fast") // when the standby has it all
	c.server.AwaitHealth(http.StatusServiceUnavailable, "commit: the database")
	meanwhile := program.InDatabase(t, c.data.At)
	program.Refused(t, 1, "", meanwhile.Command("serve", "--listen", "127.0.0.1:0")...) // so that its unit starts it again
	standby.Promote(t)
	began := time.Now()
	c.flows(1)
	t.Logf("the first write was accepted %v after the failover", time.Since(began).Round(time.Millisecond))
	c.flows(100)
	c.end()
	meanwhile.Serve().StopWell()
}
