//go:build linux

package server

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/wire/web"
)

// attackers is how many connections an attack has: n, in tests a quarter of it every day,
// or what the limit of open files leaves, since both ends are in this process.
func attackers(t testing.TB, n int) int {
	t.Helper()
	if _, benchmark := t.(*testing.B); kit.EveryDay() && !benchmark {
		n /= 4
	}
	var limit syscall.Rlimit
	kit.Must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if room := (int(limit.Cur) - 500) / 2; room < n {
		t.Logf("the limit of open files leaves room for %d connections, not %d", room, n)
		return room
	}
	return n
}

// connectMany opens connections and says the same on each.
func (env *testEnv) connectMany(n int, say string) (conns []net.Conn) {
	env.Helper()
	for range n {
		c, err := net.Dial("tcp", env.listen())
		kit.Must(env, err)
		env.Cleanup(func() { c.Close() })
		io.WriteString(c, say)
		conns = append(conns, c)
	}
	return conns
}

// healthy is a client that is to notice nothing of an attack.
func (env *testEnv) healthy(scheme string) (ask func()) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	return func() {
		env.Helper()
		answer, err := transport.RoundTrip(newRequest("GET", scheme+"://"+env.listen()+"/api/v1/members", "key_read"))
		kit.Must(env, err)
		io.Copy(io.Discard, answer.Body)
		if answer.Body.Close(); answer.StatusCode != http.StatusOK {
			env.Fatalf("the healthy client got %s", answer.Status)
		}
	}
}

// held is the memory that this process has in use, stacks included.
func held() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// helloBegins is the head of a TLS record with a ClientHello that doesn't come.
const helloBegins = "\x16\x03\x01\x02\x00"

// Handshakes that are half done hold little memory each, and others get theirs.
func TestHalfOpenHandshakes(t *testing.T) {
	env := newTestEnv(t, Config{})
	h := &env.server.http // however long it takes to open them all
	h.ReadHeaderTimeout, h.ReadTimeout, h.WriteTimeout = time.Hour, time.Hour, time.Hour
	env.listenWith(true)
	ask, n := env.healthy("https"), attackers(t, 10_000)
	ask()
	before := held()
	conns := env.connectMany(n, helloBegins)
	env.waitForOpen(n)
	each := (held() - before) / n
	t.Logf("%d bytes for each of %d connections", each, n)
	if each > 32<<10 {
		t.Errorf("each of %d connections holds %d bytes", n, each)
	}
	ask()
	for _, c := range conns {
		c.Close()
	}
	env.waitForOpen(0)
}

// They are ended by the server, as are those who send their request's head a byte
// at a time, however steadily.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		secure    bool
		n         int
		say, drip string
	}{
		"handshake": {true, 1000, helloBegins, ""},
		"head":      {false, 2000, "GET /api/v1/members HTTP/1.1\r\nHost: a\r\nX: ", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newTestEnv(t, Config{})
			env.server.http.ReadHeaderTimeout = 3 * time.Second // the healthy client has as long
			env.listenWith(row.secure)
			conns := env.connectMany(attackers(t, row.n), row.say)
			var group sync.WaitGroup
			for _, c := range conns {
				group.Go(func() { dripUntilCut(t, c, row.drip) })
			}
			scheme := map[bool]string{false: "http", true: "https"}[row.secure]
			whileRunning(&group, env.healthy(scheme))
			env.waitForOpen(0)
		})
	}
}

// dripUntilCut sends a byte at a time until the server has closed the connection.
func dripUntilCut(t *testing.T, c net.Conn, drip string) {
	for b := make([]byte, 1); ; {
		c.SetReadDeadline(time.Now().Add(25 * time.Millisecond))
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || t.Context().Err() != nil {
			return
		}
		io.WriteString(c, drip)
	}
}

// whileRunning does something over and over until the group is done.
func whileRunning(group *sync.WaitGroup, do func()) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	for {
		do()
		select {
		case <-done:
			return
		default:
		}
	}
}

// Who opens and resets streams as fast as it can keeps no more handlers busy than
// its streams allow, and is cut off.
func TestRapidReset(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, Config{})
	var running atomic.Int64 // none leaves before release
	began, release := make(chan struct{}, 1), make(chan struct{})
	env.addRoute("/slow", func(x *request) error {
		running.Add(1)
		select {
		case began <- struct{}{}:
		default:
		}
		defer running.Add(-1)
		<-release
		x.answer(web.JSON(http.StatusOK, []byte("{}")))
		return nil
	})
	env.listenWith(true)
	env.healthy("https")() // from now on the key is known: a stream that is reset has its handler run all the same
	c := env.dialH2()
	go c.openAndReset("/slow", 100*maxStreams)
	f, err := c.until(h2GoAway)
	if err != nil || binary.BigEndian.Uint32(f.payload[4:]) != h2EnhanceYourCalm {
		t.Errorf("the attacker got %v, %v", f, err)
	}
	<-began // the attacker may be cut off before any handler had its turn
	if n := running.Load(); n > maxStreams {
		t.Errorf("%d handlers run", n)
	}
	env.healthy("https")()
	close(release)
	env.waitForOpen(0)
}

// openAndReset goes on until it is cut off, or has opened so many streams.
func (c h2Conn) openAndReset(path string, streams int) {
	block := h2Request(basePath+path, [2]string{"authorization", "Bearer key_read." + fixtureSecret})
	for i := range streams {
		stream := uint32(2*i + 1)
		c.ask(stream, block)
		if _, err := c.Write(h2Frame{kind: h2Reset, stream: stream, payload: make([]byte, 4)}.append(nil)); err != nil {
			return
		}
	}
}
