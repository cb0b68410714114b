package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// tlsListener is a listener whose connections have completed their handshake.
// net/http recognizes HTTP/2 by the type *tls.Conn; an HTTP/1 connection is an
// http1TLSConn.
type tlsListener struct {
	net.Listener
	config   *tls.Config
	timeout  time.Duration // of a handshake
	version  string
	log      *log.Logger
	accepted chan accepted
	shaking  sync.WaitGroup // handshakes
	closed   context.Context
	close    context.CancelFunc
}

type accepted struct {
	conn net.Conn
	err  error
}

// newTLSListener returns a listener for h, which accepts once run does: a handshake may
// take as long as a request's header.
func newTLSListener(l net.Listener, config *tls.Config, version string, h *http.Server) *tlsListener {
	t := &tlsListener{Listener: l, config: config, timeout: h.ReadHeaderTimeout, version: version, log: h.ErrorLog, accepted: make(chan accepted)}
	t.closed, t.close = context.WithCancel(context.Background())
	return t
}

// lastHandshakes is how long those may take that a listener is left with.
const lastHandshakes = 2 * time.Second

// run accepts connections until the listener is closed, or the one below it, which
// leaves it those that have just connected: it returns when they can be asked something.
// After an error it continues when net/http accepts the next connection.
func (t *tlsListener) run() {
	for t.closed.Err() == nil {
		c, err := t.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			defer time.AfterFunc(lastHandshakes, t.close).Stop()
			t.shaking.Wait()
			return
		}
		if err != nil {
			t.hand(nil, err)
			continue
		}
		t.shaking.Go(func() { t.shakeHands(c) })
	}
}

func (t *tlsListener) hand(c net.Conn, err error) {
	select {
	case t.accepted <- accepted{c, err}:
	case <-t.closed.Done():
		if c != nil {
			c.Close()
		}
	}
}

func (t *tlsListener) shakeHands(raw net.Conn) {
	if !enter(t.closed, raw) {
		drop(raw)
		return
	}
	ctx, cancel := context.WithTimeout(t.closed, t.timeout)
	defer cancel()
	shaking := newShakingConn(ctx, raw)
	c := tls.Server(shaking, t.config)
	err := c.HandshakeContext(ctx)
	shaking.shaken()
	if errors.Is(err, errUnheard) {
		drop(raw)
		return
	}
	if err != nil {
		answerPlain(err)
		t.log.Printf("TLS handshake error from %s: %v", raw.RemoteAddr(), err)
		raw.Close()
		return
	}
	switch c.ConnectionState().NegotiatedProtocol {
	case "", "http/1.1":
		t.hand(&http1TLSConn{http1Conn{Conn: c, version: t.version}}, nil)
	default:
		t.hand(c, nil)
	}
}

// answerPlain answers a client that speaks HTTP without TLS.
func answerPlain(err error) {
	var header tls.RecordHeaderError
	begins := []string{"GET /", "HEAD ", "POST ", "PUT /", "OPTIO"}
	if errors.As(err, &header) && header.Conn != nil && slices.Contains(begins, string(header.RecordHeader[:])) {
		io.WriteString(header.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
}

// Accept waits for the next connection that is ready for a request.
func (t *tlsListener) Accept() (net.Conn, error) {
	select {
	case a := <-t.accepted:
		return a.conn, a.err
	case <-t.closed.Done():
		return nil, net.ErrClosed
	}
}

// Close closes the listener, and connections still in their handshake.
func (t *tlsListener) Close() error {
	t.close()
	return t.Listener.Close()
}
