package server

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"teamdata/server/cork"
	"teamdata/store"
	"teamdata/wire/web"
)

// http1Conn is a connection that speaks HTTP/1. Answers that net/http writes by
// itself, before a handler has seen the request, are rewritten in the API's form.
type http1Conn struct {
	net.Conn
	version string
	handled atomic.Bool // the current request has reached ServeHTTP
}

// handling is an http1Conn, with or without TLS.
type handling interface {
	net.Conn
	isHandled() *atomic.Bool
}

func (c *http1Conn) isHandled() *atomic.Bool { return &c.handled }

// Write passes a handler's answer through.
func (c *http1Conn) Write(b []byte) (int, error) {
	status, ok := bareStatus(b)
	if !ok || c.handled.Load() {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(c.answer(status)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// bareStatus returns the status of an answer of net/http's own.
func bareStatus(b []byte) (status int, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte("HTTP/1.1 "))
	if !ok || len(rest) < 3 {
		return 0, false
	}
	status, err := strconv.Atoi(string(rest[:3]))
	return status, err == nil && status >= http.StatusBadRequest
}

func (c *http1Conn) answer(status int) []byte {
	a := bareAnswer(status)
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nAPI-Version: %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\nContent-Type: %s\r\nDate: %s\r\nX-Content-Type-Options: nosniff\r\n\r\n",
		status, http.StatusText(status), c.version, len(a.Body), a.ContentType, time.Now().UTC().Format(http.TimeFormat))
	return append([]byte(head), a.Body...)
}

// bareAnswer is the answer in place of one of net/http's own.
func bareAnswer(status int) store.Answer {
	e := store.Errorf(store.CodeBadRequest, "The request is not valid HTTP/1.1.")
	switch status {
	case http.StatusExpectationFailed:
		e = store.Errorf(store.CodeBadRequest, "The value of the header Expect is not supported.").Advise("Leave it out.")
	case http.StatusRequestHeaderFieldsTooLarge:
		e = store.Errorf(store.CodePayloadTooLarge, "The request's headers are larger than %d bytes.", maxHeaderBytes)
	}
	a := web.ErrorAnswer(e, "", docsPath)
	a.Status = status
	return a
}

// NetConn returns the connection beneath.
func (c *http1Conn) NetConn() net.Conn { return c.Conn }

// CloseWrite shuts down the writing side, as net/http does before it closes.
func (c *http1Conn) CloseWrite() error { return cork.CloseWrite(c.Conn) }

// http1TLSConn is an http1Conn over TLS.
type http1TLSConn struct{ http1Conn }

// ConnectionState makes net/http recognize a TLS connection.
func (c *http1TLSConn) ConnectionState() tls.ConnectionState {
	return c.Conn.(*tls.Conn).ConnectionState()
}

// http1Listener is a listener of connections without TLS, all of which speak HTTP/1.
type http1Listener struct {
	net.Listener
	version string
}

func (l http1Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &http1Conn{Conn: c, version: l.version}, nil
}
