package server

import (
	"crypto/tls"
	"io"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/internal/ratelimit"
)

// A handshake that waits for its client, or for something else, keeps no others waiting.
func TestTurnsOfSlowHandshakes(t *testing.T) {
	handshakesTest(t, func(env *testEnv, dial func(string) *tls.Conn, _ func() int64) {
		for range 2 * runtime.GOMAXPROCS(0) {
			io.WriteString(dial("h2").NetConn(), "\x16\x03\x01\x02") // the begin of a hello
		}
		if took := shake(env, dial("h2")); took != time.Millisecond {
			env.Errorf("beside those that stopped, a handshake took %s", took)
		}
		for range runtime.GOMAXPROCS(0) {
			go dial("slow").Handshake()
		}
		synctest.Wait()
		if took := shake(env, dial("h2")); took != turnTakes+time.Millisecond {
			env.Errorf("beside those that take long, a handshake took %s", took)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(env.server.connections.turns.ofClient.clients); n > 0 {
			env.Errorf("%d clients have turns yet", n)
		}
	})
}

// Who has as many requests open as it may have when its turn comes is not heard.
func TestTurnOfWhoIsNotHeard(t *testing.T) {
	handshakesTest(t, func(env *testEnv, dial func(string) *tls.Conn, _ func() int64) {
		for range runtime.GOMAXPROCS(0) {
			go dial("slow").Handshake()
		}
		synctest.Wait()
		waits := dial("h2")
		ended := make(chan error)
		go func() { ended <- waits.Handshake() }()
		synctest.Wait()
		for range 1000 {
			env.server.streams.acquire(netip.MustParseAddr("127.0.0.1"))
		}
		if err := <-ended; err == nil {
			env.Error("it is heard")
		}
	})
}

// A client's turn comes before more of one that waits for many.
func TestTurnsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		crowd := ratelimit.ClientKey(netip.MustParseAddr("127.0.0.1"))
		other := ratelimit.ClientKey(netip.MustParseAddr("127.0.0.2"))
		var taken atomic.Int64
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if end, ok := turns.take(t.Context(), crowd); ok {
					taken.Add(1)
					time.Sleep(time.Millisecond)
					end()
				}
			})
		}
		synctest.Wait()
		end, ok := turns.take(t.Context(), other)
		if n := taken.Load(); !ok || n > 2*int64(runtime.GOMAXPROCS(0)) {
			t.Errorf("it waited for %d turns of a crowd", n)
		}
		end()
		all.Wait()
	})
}
