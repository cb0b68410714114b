package server

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit/engines"
)

// takeNothing gives the server no room to send a body on any stream.
func (c h2Conn) takeNothing() {
	c.Write(h2Frame{kind: h2Settings, payload: []byte{0, 4, 0, 0, 0, 0}}.append(nil))
}

// A client that takes no answer has as many requests open as it may have connections. One
// more is refused: the connection of a client that has shown a key gets an answer, and takes
// no more requests, any other is cut, and a new one is not even heard.
func TestHTTP2OpenRequests(t *testing.T) {
	env := newTestEnv(t, Config{MaxClientConns: 10})
	env.server.http.Handler = env.server // what is refused is answered without the body that the document has
	env.listenWith(true)
	held, known, unknown := env.dialH2(), env.dialH2(), env.dialH2()
	known.ask(1, h2Request("/api/v1/members", [2]string{"authorization", "Bearer key_read." + fixtureSecret}))
	if f, err := known.until(h2Headers); err != nil || bytes.Contains(f.payload, []byte("\x03401")) {
		t.Fatalf("with a key: %q, %v", f.payload, err)
	}
	if closed := env.server.streams.allClosed(); closed != nil {
		<-closed
	}
	held.takeNothing()
	unknown.takeNothing()
	for i := range 10 {
		held.ask(uint32(2*i+1), h2Request("/api/v1/members"))
		if f, err := held.until(h2Headers); err != nil {
			t.Fatalf("request %d: %q, %v", i+1, f.payload, err)
		}
	}
	known.ask(3, h2Request("/api/v1/members"))
	if f, err := known.until(h2GoAway); err != nil {
		t.Errorf("one more of who has a key: %q, %v", f.payload, err)
	}
	unknown.ask(1, h2Request("/api/v1/members"))
	if f, err := unknown.until(h2Headers); err == nil {
		t.Errorf("one more is answered: %q", f.payload)
	}
	if c, err := tls.Dial("tcp", env.addr, &tls.Config{InsecureSkipVerify: true}); err == nil {
		c.Close()
		t.Error("a new connection is let in")
	}
	held.Close()
	for { // the server notices soon that it has gone
		next, err := tls.Dial("tcp", env.addr, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			next.Close()
			return
		}
	}
}

// pipe serves one connection in memory, which its client has begun with a protocol.
func (env *testEnv) pipe(secure *tls.Config, protocol string) (c h2Conn, end func()) {
	env.Helper()
	dial, end := env.pipes(secure)
	return h2Conn{dial(protocol)}, end
}

// pipes serves connections in memory.
func (env *testEnv) pipes(secure *tls.Config) (dial func(protocol string) *tls.Conn, end func()) {
	env.Helper()
	l := pipes{make(chan net.Conn), make(chan struct{})}
	ended := make(chan error)
	go func() { ended <- env.server.Serve(l, secure) }()
	var all []net.Conn
	dial = func(protocol string) *tls.Conn {
		client, server := net.Pipe()
		all = append(all, client)
		l.conns <- fromLoopback{server}
		return tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
	}
	return dial, func() {
		for _, c := range all {
			c.Close()
		}
		env.server.http.Close()
		<-ended
	}
}

// Who is cut off with requests open keeps their room for a while.
func TestHTTP2RoomOfWhoIsCut(t *testing.T) {
	engines.NeedsOwnTime(t)
	secure := newTestEnv(t, Config{}).localTLS()
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, Config{MaxConns: 5})
		env.server.http.Handler = env.server // as above
		c, end := env.pipe(secure, "h2")
		defer end()
		io.WriteString(c, h2Preface)
		c.takeNothing()
		for i := range 6 {
			c.ask(uint32(2*i+1), h2Request("/api/v1/members"))
		}
		for _, err := c.until(h2GoAway); err == nil; _, err = c.until(h2GoAway) {
		}
		synctest.Wait()
		if env.server.streams.allClosed() == nil {
			t.Error("there is room at once")
		}
		time.Sleep(cutPause)
		synctest.Wait()
		if env.server.streams.allClosed() != nil {
			t.Error("there is no room")
		}
	})
}

// pipes is a listener whose connections are in memory, so that their time is a test's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// fromLoopback is a connection in memory whose peer has an address.
type fromLoopback struct{ net.Conn }

func (fromLoopback) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A connection that waits for its next request is closed after two minutes.
func TestIdleConnections(t *testing.T) {
	engines.NeedsOwnTime(t)
	secure := newTestEnv(t, Config{}).localTLS()
	for _, protocol := range []string{"http/1.1", "h2"} {
		synctest.Test(t, func(t *testing.T) {
			env := newTestEnv(t, Config{})
			c, end := env.pipe(secure, protocol)
			defer end()
			if protocol == "h2" {
				io.WriteString(c, h2Preface)
				c.Write(h2Frame{kind: h2Settings}.append(nil))
			}
			ask := func(stream uint32) {
				if protocol == "h2" {
					c.ask(stream, h2Request("/readyz"))
				} else {
					io.WriteString(c, "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
				}
			}
			began := time.Now()
			ask(1)
			time.AfterFunc(idleTimeout-time.Second, func() { ask(3) })
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s: %v", protocol, err)
			}
			if took := time.Since(began); took != 2*idleTimeout-time.Second {
				t.Errorf("%s: closed after %v", protocol, took)
			}
			synctest.Wait()
			env.server.idle.Range(func(any, any) bool { t.Errorf("%s: its timer is kept", protocol); return false })
		})
	}
}

// A short answer that isn't taken is dropped after 10 seconds.
func TestHTTP2AnswerNotTaken(t *testing.T) {
	engines.NeedsOwnTime(t)
	secure := newTestEnv(t, Config{}).localTLS()
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, Config{})
		c, end := env.pipe(secure, "h2")
		defer end()
		began := time.Now()
		io.WriteString(c, h2Preface)
		c.takeNothing()
		c.ask(1, h2Request("/api/v1/members"))
		if f, err := c.until(h2Reset); err != nil || f.stream != 1 {
			t.Errorf("%+v, %v", f, err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("dropped after %s", took)
		}
	})
}
