package server

import (
	"crypto/tls"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit/engines"
)

// handshakesTest runs a test of a server in memory, and in its own time, where a handshake takes a
// millisecond, and one of the protocol "slow" an hour.
func handshakesTest(t *testing.T, test func(env *testEnv, dial func(protocol string) *tls.Conn, most func() int64)) {
	engines.NeedsOwnTime(t)
	secure := newTestEnv(t, Config{}).localTLS()
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, Config{MaxClientConns: 1000})
		secure := secure.Clone()
		secure.NextProtos = []string{"slow"}
		var now, most atomic.Int64
		get := secure.GetCertificate
		secure.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			if slices.Contains(hello.SupportedProtos, "slow") {
				time.Sleep(time.Hour)
			}
			time.Sleep(time.Millisecond)
			return get(hello)
		}
		dial, end := env.pipes(secure)
		test(env, dial, most.Load)
		end()
		time.Sleep(time.Hour) // until the slow ones end
	})
}

// However many connect at once, no more handshakes are computed at a time than there are
// processors.
func TestCrowdOfHandshakes(t *testing.T) {
	handshakesTest(t, func(env *testEnv, dial func(string) *tls.Conn, most func() int64) {
		var all sync.WaitGroup
		for range 20 * runtime.GOMAXPROCS(0) {
			c := dial("h2")
			all.Go(func() {
				if err := c.Handshake(); err != nil {
					env.Error(err)
				}
			})
		}
		all.Wait()
		if n := most(); n != int64(runtime.GOMAXPROCS(0)) {
			env.Errorf("%d at a time", n)
		}
	})
}
