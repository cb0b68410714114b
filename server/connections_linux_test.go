package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// dialFrom connects to the server from another address of this machine. A reset
// is an error.
func (env *testEnv) dialFrom(address string) (net.Conn, error) {
	env.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := d.DialContext(env.Context(), "tcp", env.listen())
	if err != nil {
		return nil, err
	}
	env.Cleanup(func() { c.Close() })
	return c, c.SetDeadline(time.Now().Add(20 * time.Second))
}

// connect connects, and reports whether the server answers.
func (env *testEnv) connect(address string) (c net.Conn, accepted bool) {
	env.Helper()
	c, err := env.dialFrom(address)
	if err == nil {
		_, err = io.WriteString(c, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	if err == nil {
		_, err = c.Read(make([]byte, 512))
	}
	if err != nil && !wasReset(err) {
		env.Errorf("neither answered nor reset: %v", err)
	}
	return c, err == nil
}

func wasReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// wantAccepted complains unless the server accepts a connection from an address.
func (env *testEnv) wantAccepted(address string, want bool) net.Conn {
	env.Helper()
	c, got := env.connect(address)
	if got != want {
		env.Fatalf("a connection from %s is accepted: %v", address, got)
	}
	return c
}

// waitForOpen returns once so many connections are open.
func (env *testEnv) waitForOpen(n int) {
	env.Helper()
	l := env.server.connections
	for deadline := time.Now().Add(30 * time.Second); ; {
		l.mu.Lock()
		open := l.open
		l.mu.Unlock()
		if open == n {
			return
		}
		if time.Now().After(deadline) {
			env.Fatalf("%d connections are open, and not %d", open, n)
		}
		<-time.After(time.Millisecond)
	}
}

func TestMaxConns(t *testing.T) {
	env := newTestEnv(t, Config{MaxConns: 3, Proxies: mustParse(t, "127.0.0.9")})
	first := env.wantAccepted("127.0.0.1", true)
	env.wantAccepted("127.0.0.2", true)
	env.wantAccepted("127.0.0.9", true)
	env.wantAccepted("127.0.0.3", false)
	env.wantAccepted("127.0.0.9", false)
	first.Close()
	env.waitForOpen(2)
	env.wantAccepted("127.0.0.3", true)
}

func TestMaxClientConns(t *testing.T) {
	env := newTestEnv(t, Config{MaxClientConns: 2, Proxies: mustParse(t, "127.0.0.9")})
	first := env.wantAccepted("127.0.0.1", true)
	env.wantAccepted("127.0.0.1", true)
	env.wantAccepted("127.0.0.1", false)
	env.wantAccepted("127.0.0.2", true)
	for range 3 {
		env.wantAccepted("127.0.0.9", true) // a proxy
	}
	first.Close()
	env.waitForOpen(5)
	env.wantAccepted("127.0.0.1", true)
	env.wantAccepted("127.0.0.1", false)
	if n := strings.Count(env.LogOutput.String(), "connections are refused"); n != 1 {
		t.Errorf("the log tells of it %d times:\n%s", n, env.LogOutput)
	}
}

// Who is refused is cut off before a word was said, and so before TLS.
func TestRefusedBeforeTLS(t *testing.T) {
	env := newTestEnv(t, Config{MaxClientConns: 1})
	env.listenWith(true)
	if _, err := env.dialFrom("127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	env.waitForOpen(1)
	c, err := env.dialFrom("127.0.0.1")
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the second got %v", err)
	}
}

// However connections come and go, they are counted down as they were counted up.
func TestConnLimiterForgets(t *testing.T) {
	l := newConnLimiter(Config{MaxConns: 50, MaxClientConns: 8, Proxies: mustParse(t, "127.0.0.1")})
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 2000 {
				release, ok := l.acquire(netip.AddrFrom4([4]byte{127, 0, 0, byte((worker + i) % 5)}))
				if ok {
					release()
					release() // as a connection is closed twice
				}
			}
		})
	}
	group.Wait()
	if l.open != 0 || len(l.clients) != 0 {
		t.Errorf("%d are open, of %d clients", l.open, len(l.clients))
	}
}

// Two addresses of an IPv6 /64 are one client, to this limit as to the limits.
func TestConnLimiterCountsNetworks(t *testing.T) {
	l := newConnLimiter(Config{MaxClientConns: 1})
	if _, ok := l.acquire(netip.MustParseAddr("2001:db8::1")); !ok {
		t.Error("the first is refused")
	}
	for text, want := range map[string]bool{"2001:db8::2": false, "2001:db8:0:1::1": true} {
		if _, ok := l.acquire(netip.MustParseAddr(text)); ok != want {
			t.Errorf("%s: %v", text, ok)
		}
	}
}
