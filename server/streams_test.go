package server

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// takeNothing gives the server no room to send a body on any stream.
func (c h2Conn) takeNothing() {
	c.Write(h2Frame{kind: h2Settings, payload: []byte{0, 4, 0, 0, 0, 0}}.append(nil))
}

// A client that takes no answer has as many requests open as it may have connections.
// The next is refused, and its connection with it.
func TestHTTP2OpenRequests(t *testing.T) {
	env := newTestEnv(t, Config{MaxClientConns: 10})
	env.server.http.Handler = env.server // what is refused is answered without the body that the document has
	env.listenWith(true)
	held, c := env.dialH2(), env.dialH2()
	held.takeNothing()
	c.takeNothing()
	for i := range 10 {
		held.ask(uint32(2*i+1), h2Request("/api/v1/members"))
		if f, err := held.until(h2Headers); err != nil {
			t.Fatalf("request %d: %q, %v", i+1, f.payload, err)
		}
	}
	c.ask(1, h2Request("/api/v1/members"))
	if f, err := c.until(h2GoAway); err != nil {
		t.Errorf("one more: %q, %v", f.payload, err)
	}
	held.Close()
	for { // the server notices soon that it has gone
		next := env.dialH2()
		next.ask(1, h2Request("/api/v1/members"))
		f, err := next.until(h2Headers)
		if err != nil {
			t.Fatal(err)
		}
		next.Close()
		if !bytes.Contains(f.payload, []byte("\x03429")) {
			return
		}
	}
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

// A short answer that isn't taken is dropped after 10 seconds.
func TestHTTP2AnswerNotTaken(t *testing.T) {
	secure := newTestEnv(t, Config{}).localTLS()
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, Config{})
		l := pipes{make(chan net.Conn), make(chan struct{})}
		ended := make(chan error)
		go func() { ended <- env.server.Serve(l, secure) }()
		client, server := net.Pipe()
		l.conns <- server
		c := h2Conn{tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})}
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
		c.Close()
		env.server.http.Close()
		<-ended
	})
}
