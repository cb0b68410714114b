// Package cork sends one HTTP answer with one system call.
//
// net/http writes its 4 KiB buffer in the middle of an answer, and crypto/tls
// writes each record on its own. A [Conn] sits beneath both: between [Conn.Cork]
// and [Conn.Uncork] it buffers what they write.
//
// Cork when the request has been read and the answer is ready, flush net/http's
// own buffer, then uncork:
//
//	c.Cork()
//	w.Write(answer)
//	http.NewResponseController(w).Flush()
//	err := c.Uncork()
//
// It is meant for HTTP/1.1. An HTTP/2 connection carries several answers at once, and
// one that corks would delay the others.
//
// It imports no other package of teamdata. When to cork is up to the server; how
// bytes are buffered and sent belongs here.
package cork

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	// heldMax is the most that a connection holds back.
	heldMax = 64 << 10

	// closeTimeout bounds what Close waits for a peer that doesn't read.
	closeTimeout = time.Second
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Listener wraps l so that every accepted connection is a [*Conn]. TLS, if any,
// goes on top of it.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c}, nil
}

// Beneath returns the first connection of type C among c and those beneath it, each of
// which the one above returns from its method NetConn, as TLS does. It is false if there is
// none.
func Beneath[C any](c net.Conn) (found C, ok bool) {
	for {
		if found, ok = c.(C); ok {
			return found, true
		}
		above, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return found, false
		}
		c = above.NetConn()
	}
}

// CloseWrite shuts down the writing side of c, as net/http does before it closes a
// connection whose request it didn't read to the end, or of the first connection beneath
// that can. If none can, it fails with errors.ErrUnsupported.
func CloseWrite(c net.Conn) error {
	half, ok := Beneath[interface{ CloseWrite() error }](c)
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Conn is a connection that can hold back what is written to it. Its methods are
// safe for concurrent use.
type Conn struct {
	net.Conn

	// mu is held while writing, so that nothing overtakes what was gathered.
	mu   sync.Mutex
	held *bytes.Buffer // nil unless corked
	err  error         // why gathered bytes were lost; every later Write returns it
}

// Cork starts to gather what is written. At most 64 KiB are held back; what
// goes beyond is sent at once, in order. On a corked connection it does nothing.
func (c *Conn) Cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = buffers.Get().(*bytes.Buffer)
	}
}

// Uncork sends what was gathered in one Write, and stops gathering. An error
// in sending it, now or earlier, is returned here and by every later Write.
func (c *Conn) Uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uncork()
}

func (c *Conn) uncork() error {
	if c.held != nil {
		c.send()
		buffers.Put(c.held)
		c.held = nil
	}
	return c.err
}

// send empties the buffer into the connection beneath.
func (c *Conn) send() {
	if c.err == nil && c.held.Len() > 0 {
		_, c.err = c.Conn.Write(c.held.Bytes())
	}
	c.held.Reset()
}

// Write gathers p if the connection is corked, else it sends it straight away.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil && c.held.Len()+len(p) > heldMax {
		c.send()
	}
	switch {
	case c.err != nil:
		return 0, c.err
	case c.held == nil || len(p) > heldMax:
		return c.Conn.Write(p)
	}
	return c.held.Write(p)
}

// Close sends what was gathered, if that takes no longer than a second, and
// closes the connection.
func (c *Conn) Close() error {
	// Another goroutine may hold the lock while it writes to a peer that doesn't
	// read; closing the connection beneath ends that.
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		c.finish()
	}
	return c.Conn.Close()
}

// finish sets a deadline of its own: crypto/tls, when it closes, leaves one that
// has passed, and what was gathered would be lost.
func (c *Conn) finish() {
	if c.held != nil && c.held.Len() > 0 {
		c.Conn.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
	c.uncork()
}

// NetConn returns the connection beneath.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// CloseWrite sends what was gathered and signals the peer that nothing follows; see the
// function CloseWrite.
func (c *Conn) CloseWrite() error {
	if err := c.Uncork(); err != nil {
		return err
	}
	return CloseWrite(c.Conn)
}
