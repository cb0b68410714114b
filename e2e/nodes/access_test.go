package nodes_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// servers are some on one database, each with its operator.
type servers struct {
	*testing.T
	database  string
	servers   []*program.Process
	operators []program.Operator
}

func newServers(t *testing.T, n int, flags ...string) *servers {
	t.Helper()
	c := &servers{T: t, database: postgres.New(t)}
	for i := range n {
		folder := t.TempDir()
		all := append([]string{"--node", fmt.Sprint("node-", i), "--state-dir", folder, "--client-rate", "0"}, flags...)
		if i == 0 {
			all = append(all, "--seed", program.Example)
		}
		c.servers = append(c.servers, program.Serve(t, c.database, all...))
		c.operators = append(c.operators, program.NewOperator(t, filepath.Join(folder, "teamdata")))
	}
	return c
}

// must is a request of the operator of one server; that of any number is one of them.
func (c *servers) must(n int, method, path, body string, answer any) {
	c.Helper()
	status, text, err := c.operators[n%len(c.operators)].Do(method, path, body)
	if err == nil && status/100 == 2 {
		err = json.Unmarshal([]byte(text), answer)
	}
	if err != nil || status/100 != 2 {
		c.Fatalf("%s %s is answered %d %s (%v)", method, path, status, text, err)
	}
}

// onAll makes a request to all servers at the same time, which all give the answer want.
func (c *servers) onAll(what string, want int, ask func(p *program.Process) (status int, err error)) {
	c.Helper()
	var asked sync.WaitGroup
	for i, p := range c.servers {
		asked.Go(func() {
			if status, err := ask(p); status != want {
				c.Errorf("%s: node-%d answers %d, not %d (%v)", what, i, status, want, err)
			}
		})
	}
	asked.Wait()
	if c.Failed() {
		c.FailNow()
	}
}

// rounds is how often each way to shut somebody out is tried.
func rounds() int { return kit.Size(8, 1000) }

// From the moment that the call returns no server takes a key that was revoked, shows an
// org to who manages it no more, or a page to a session that ended, nor later: whoever
// made the call, and whoever was asked before.
func TestShutOutByAllNodes(t *testing.T) {
	t.Parallel()
	c := newServers(t, 3, "--key-rate", "0")
	for name, shutOut := range map[string]func(*servers){
		"key": (*servers).revokeKeys, "role": (*servers).takeRoles, "session": (*servers).endSessions,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *c
			own.T = t
			began := time.Now()
			shutOut(&own)
			t.Logf("%d times, %v each", rounds(), time.Since(began)/time.Duration(rounds()))
		})
	}
}

func (c *servers) revokeKeys() {
	for n := range rounds() {
		var made struct{ ID, Key string }
		c.must(n, "POST", "/orgs/org_acme/keys", `{"name":"one of many","scopes":["read"],"createdBy":"usr_ada"}`, &made)
		use := func(p *program.Process) (int, error) {
			a, err := p.Get("/members", made.Key)
			return a.Status, err
		}
		c.onAll("a new key", 200, use)
		c.must(n/3, "POST", "/orgs/org_acme/keys/"+made.ID+"/revoke", "", &struct{}{})
		c.onAll("a revoked key", 401, use)
	}
}

func (c *servers) takeRoles() {
	s := c.open()
	for n := range rounds() {
		cookie := c.signIn(s, "usr_bruno")
		see := func(p *program.Process) (int, error) { return visit(p, "GET", "/settings/orgs/org_acme/keys", cookie) }
		c.onAll("an admin", 200, see)
		c.must(n, "PATCH", "/orgs/org_acme/members/usr_bruno", `{"role":"member"}`, &struct{}{})
		c.onAll("no admin any more", 303, see) // to the page to sign in: it was the only org
		c.must(n/3, "PATCH", "/orgs/org_acme/members/usr_bruno", `{"role":"admin"}`, &struct{}{})
	}
}

func (c *servers) endSessions() {
	s := c.open()
	for n := range rounds() {
		cookie := c.signIn(s, "usr_ada")
		see := func(p *program.Process) (int, error) { return visit(p, "GET", "/settings/account", cookie) }
		c.onAll("a session", 200, see)
		if status, err := visit(c.servers[n%3], "POST", "/settings/sign-out", cookie); status != 303 {
			c.Fatalf("signing out is answered %d (%v)", status, err)
		}
		c.onAll("a session that ended", 303, see) // to the page to sign in
	}
}

// open opens the database as a command does.
func (c *servers) open() store.Store {
	s := program.InDatabase(c.T, c.database).Open()
	c.Cleanup(func() { s.Close() })
	return s
}

// signIn begins a session in the database itself, without the work of a password, and
// returns its cookie.
func (c *servers) signIn(s store.Store, user string) (cookie string) {
	c.Helper()
	err := store.UpdateAs(c.Context(), s, []string{user}, func(tx store.Tx) (err error) {
		if _, err = tx.Account(user); store.IsNotFound(err) {
			err = tx.PutAccount(store.Account{UserID: user, CreatedAt: tx.Now()})
		}
		if err != nil {
			return err
		}
		_, cookie, err = store.CreateSession(tx, user, "a test")
		return err
	})
	kit.Must(c, err)
	return cookie
}

// visit opens a page of the settings, or sends it a form, and follows no redirect.
func visit(p *program.Process, method, path, cookie string) (status int, err error) {
	q, err := http.NewRequest(method, p.URL+path, nil)
	if err != nil {
		return 0, err
	}
	q.AddCookie(&http.Cookie{Name: "__Host-teamdata", Value: cookie})
	q.Header.Set("Origin", p.URL)
	a, err := p.Client.Transport.RoundTrip(q)
	if err != nil {
		return 0, err
	}
	return a.StatusCode, a.Body.Close()
}

// Of 800 requests with one key to three servers exactly 100 are accepted, and each of the
// others is told when the next one will be.
func TestLimitOverNodes(t *testing.T) {
	t.Parallel()
	c := newServers(t, 3)
	began := time.Now()
	asked := make([]taken, 800)
	var callers sync.WaitGroup
	for caller := range 40 {
		callers.Go(func() {
			for i := caller; i < len(asked); i += 40 {
				asked[i] = take(c.servers[i%3])
			}
		})
	}
	callers.Wait()
	if took := time.Since(began); took > 50*time.Second {
		t.Fatalf("it took %v", took)
	}
	accepted := 0
	first := taken{until: time.Now()} // which is the first to be a minute old
	for _, a := range asked {
		if a.status == 200 {
			accepted++
			if a.until.Before(first.until) {
				first.until = a.until
			}
			if first.from.IsZero() || a.from.Before(first.from) {
				first.from = a.from
			}
		}
	}
	if accepted != 100 {
		t.Errorf("%d of %d requests were accepted", accepted, len(asked))
	}
	for _, a := range asked {
		if a.status != 200 {
			a.isRefusedSince(t, first)
		}
	}
	if !kit.AtSize() {
		return
	}
	last := take(c.servers[1])
	last.isRefusedSince(t, first)
	<-time.After(time.Until(last.from.Add(last.wait - 1500*time.Millisecond)))
	take(c.servers[2]).isRefusedSince(t, first)
	<-time.After(time.Until(last.until.Add(last.wait)))
	if a := take(c.servers[0]); a.status != 200 {
		t.Errorf("after Retry-After it is answered %d", a.status)
	}
}

// taken is a request that counts, and between when it was counted.
type taken struct {
	from, until time.Time
	status      int
	wait        time.Duration // by Retry-After
	err         error
}

func take(p *program.Process) (a taken) {
	a.from = time.Now()
	answer, err := p.Get("/members?limit=1", program.ReadKey)
	a.until, a.status, a.err = time.Now(), answer.Status, err
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	a.wait = time.Duration(seconds) * time.Second
	return a
}

// isRefusedSince holds Retry-After to when the first that was accepted is a minute old, in
// whole seconds.
func (a taken) isRefusedSince(t *testing.T, first taken) {
	t.Helper()
	seconds := func(d time.Duration) float64 { return math.Ceil(d.Seconds()) }
	earliest := seconds(first.from.Add(time.Minute).Sub(a.until) - time.Millisecond)
	latest := seconds(first.until.Add(time.Minute).Sub(a.from) + time.Millisecond)
	if got := a.wait.Seconds(); a.status != 429 || got < earliest || got > latest {
		t.Errorf("it is answered %d with Retry-After: %v, which is to be %v to %v (%v)", a.status, got, earliest, latest, a.err)
	}
}
