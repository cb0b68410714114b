package server

import (
	"crypto/tls"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit/engines"
	"teamdata/internal/ratelimit"
)

// newcomersTest runs a test of a server in memory that watches its client, and in its own
// time.
func newcomersTest(t *testing.T, c Config, test func(dial func(protocol string) *tls.Conn)) {
	engines.NeedsOwnTime(t)
	secure := newTestEnv(t, Config{}).localTLS()
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, c)
		dial, end := env.pipes(secure)
		env.server.connections.newcomers.watch(ratelimit.ClientKey(netip.MustParseAddr("127.0.0.1")))
		test(dial)
		end()
		time.Sleep(newFor)
		synctest.Wait()
		if n := len(env.server.connections.newcomers.places.clients); n > 0 {
			t.Errorf("%d clients have places yet", n)
		}
	})
}

// shake completes a handshake, and returns how long it took.
func shake(t testing.TB, c *tls.Conn) time.Duration {
	t.Helper()
	began := time.Now()
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// A new connection waits for those of its client that have not taken an answer, and no longer
// than a second.
func TestNewConnections(t *testing.T) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		newcomersTest(t, Config{MaxClientConns: 100}, func(dial func(string) *tls.Conn) {
			var asking *tls.Conn
			for range maxNew {
				asking = dial(protocol)
				if took := shake(t, asking); took > 0 {
					t.Errorf("%s: a handshake took %s", protocol, took)
				}
			}
			if protocol == "h2" {
				c := h2Conn{asking}
				io.WriteString(c, h2Preface)
				c.Write(h2Frame{kind: h2Settings}.append(nil))
				c.ask(1, h2Request("/readyz"))
				if _, err := c.until(h2Headers); err != nil {
					t.Error(err)
				}
				go io.Copy(io.Discard, c)
			} else {
				io.WriteString(asking, "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
				go io.Copy(io.Discard, asking)
			}
			if took := shake(t, dial(protocol)); took > 0 {
				t.Errorf("%s: after an answer was taken a handshake took %s", protocol, took)
			}
			if took := shake(t, dial(protocol)); took != newFor {
				t.Errorf("%s: with so many new connections a handshake took %s", protocol, took)
			}
		})
	}
}

// Who has far too many new connections is not heard with all of them.
func TestTooManyNewConnections(t *testing.T) {
	newcomersTest(t, Config{MaxClientConns: 200}, func(dial func(string) *tls.Conn) {
		var heard atomic.Int64
		var all sync.WaitGroup
		for range 20 * maxNew {
			c := dial("h2")
			all.Go(func() {
				if c.Handshake() == nil {
					heard.Add(1)
				}
			})
		}
		began := time.Now()
		all.Wait()
		if took := time.Since(began); took <= newTimeout/2 || took > newTimeout {
			t.Errorf("the last was heard or sent away after %s", took)
		}
		if n := heard.Load(); n < 5*maxNew || n > 11*maxNew {
			t.Errorf("%d were heard", n)
		}
	})
}

// Of a client that was never cut, or a while ago, no connection waits, whatever it does.
func TestNewConnectionsOfOthers(t *testing.T) {
	newcomersTest(t, Config{MaxClientConns: 100}, func(dial func(string) *tls.Conn) {
		time.Sleep(watchedFor)
		for range 10 * maxNew {
			if took := shake(t, dial("h2")); took > 0 {
				t.Errorf("a handshake took %s", took)
			}
		}
	})
}

// The clients of a proxy don't wait for each other.
func TestNewConnectionsOfAProxy(t *testing.T) {
	newcomersTest(t, Config{MaxClientConns: 1, Proxies: mustParse(t, "127.0.0.1")}, func(dial func(string) *tls.Conn) {
		for range 2 * maxNew {
			if took := shake(t, dial("h2")); took > 0 {
				t.Errorf("a handshake took %s", took)
			}
		}
	})
}
