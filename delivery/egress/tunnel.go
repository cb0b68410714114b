package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// maxHeaders is the size of the proxy's answer, in bytes.
const maxHeaders = 16 << 10

// Failure is the proxy's own, and says nothing of a receiver.
type Failure struct {
	Proxy string // host:port
	What  string // fit for everybody
	cause error  // or nil
	own   error  // what it is if it is about one receiver alone; nil: the proxy failed before it knew which
	told  bool   // it was noted before: this is one that waits
}

// Error is one line, which names the proxy and holds no password.
func (f *Failure) Error() string {
	if f.cause == nil {
		return fmt.Sprintf("the proxy %s %s", f.Proxy, f.What)
	}
	return fmt.Sprintf("the proxy %s %s: %v", f.Proxy, f.What, f.cause)
}

func (p *Proxy) failure(what string, cause error) *Failure {
	return &Failure{Proxy: p.address, What: what, cause: cause}
}

func (p *Proxy) refusesUser() *Failure {
	const status = http.StatusProxyAuthRequired
	return &Failure{Proxy: p.address, What: "answered 407 " + http.StatusText(status), own: &Answer{p.address, status}}
}

// failure is that of a proxy that doesn't answer for itself either.
func (n *noAnswer) failure() *Failure { return &Failure{Proxy: n.proxy, What: n.what, own: n} }

// Answer is the error of a proxy's answer to CONNECT that is no tunnel.
type Answer struct {
	Proxy  string // host:port
	Status int    // not 2xx; 407 only if others get their tunnels
}

// Error is one line with the proxy and the status.
func (a *Answer) Error() string {
	return fmt.Sprintf("the proxy %s answered %d %s to CONNECT", a.Proxy, a.Status, http.StatusText(a.Status))
}

// noAnswer is the error of a proxy that closed the connection, or answered with something
// else than HTTP. What it sent is not quoted: it could be an echo of the password.
type noAnswer struct{ proxy, what string }

func (n *noAnswer) Error() string { return fmt.Sprintf("the proxy %s %s", n.proxy, n.what) }

// tunnel asks the proxy for a connection to host:port, unless it has failed.
func (p *Proxy) tunnel(ctx context.Context, target string) (net.Conn, error) {
	if f := p.Down(); f != nil {
		p.noteRefused(target)
		told := *f
		told.told = true
		return nil, &told
	}
	return p.connectOrCheck(ctx, target)
}

// connectOrCheck is connect, and asks the proxy about itself if it gave no answer.
func (p *Proxy) connectOrCheck(ctx context.Context, target string) (net.Conn, error) {
	conn, err := p.connect(ctx, target)
	if _, ok := errors.AsType[*noAnswer](err); ok {
		if f := p.checkAnswers(ctx); f != nil {
			err = f
		}
	}
	return conn, err
}

func (p *Proxy) connect(ctx context.Context, target string) (net.Conn, error) {
	conn, err := p.reach(ctx)
	if err != nil {
		return nil, err
	}
	status, rest, err := p.ask(ctx, conn, http.MethodConnect, target, target)
	switch {
	case err != nil:
	case status == http.StatusProxyAuthRequired:
		err = p.refusesUser()
	case status/100 != 2:
		p.noteServed(target)
		err = &Answer{p.address, status}
	default:
		p.noteServed(target)
		return &tunnel{conn, io.MultiReader(bytes.NewReader(rest), conn), target}, nil
	}
	conn.Close()
	return nil, err
}

// tunnel is a connection to a receiver through the proxy.
type tunnel struct {
	net.Conn
	from   io.Reader // first what came together with the proxy's answer
	target string
}

func (t *tunnel) Read(b []byte) (int, error) { return t.from.Read(b) }

// Target returns the host:port that a connection, or the one below its TLS, leads to through
// a proxy; nil: it goes through none.
func Target(conn net.Conn) *string {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	if t, ok := conn.(*tunnel); ok {
		return &t.target
	}
	return nil
}

// reach connects to the proxy itself, with its TLS. The error is a *Failure unless ctx is
// done or the error is this machine's.
func (p *Proxy) reach(ctx context.Context) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, p.step)
	defer cancel()
	conn, err := p.dial(limited, "tcp", p.address)
	what := "can't be reached"
	if err == nil && p.tls != nil {
		secured := tls.Client(conn, p.tls)
		if err = secured.HandshakeContext(limited); err == nil {
			return secured, nil
		}
		conn.Close()
		what = "failed the TLS handshake"
	}
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case p.isLocal(err):
		return nil, err
	case limited.Err() != nil:
		err = fmt.Errorf("no answer within %s", p.step)
	}
	return nil, p.failure(what, err)
}

// ask sends a request, and returns the answer's status and what came behind its headers.
// The error is a *noAnswer unless ctx is done.
func (p *Proxy) ask(ctx context.Context, conn net.Conn, method, target, host string) (status int, rest []byte, err error) {
	goOn := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, target, host, p.authorization)
	limited := &io.LimitedReader{R: conn, N: maxHeaders}
	r := bufio.NewReader(limited)
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(r, &http.Request{Method: method})
	}
	switch {
	case !goOn():
		return 0, nil, context.Cause(ctx)
	case err == nil:
		p.answers.Add(1)
		rest, _ = r.Peek(r.Buffered())
		return answer.StatusCode, rest, nil
	case limited.N <= 0:
		return 0, nil, &noAnswer{p.address, fmt.Sprintf("answered with headers longer than %d bytes", maxHeaders)}
	case limited.N < maxHeaders:
		return 0, nil, &noAnswer{p.address, "did not answer in HTTP"}
	}
	return 0, nil, &noAnswer{p.address, "closed the connection without an answer"}
}
