package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/wire/web"
)

// addRoute adds a route that needs no scope and no feature.
func (env *testEnv) addRoute(path string, handle func(*request) error) {
	rt := &route{method: "GET", path: path, handle: handle}
	env.added[basePath+path] = true
	env.server.router.Add("GET", path, func(r web.Request) { env.server.serve(r, rt) })
}

// What goes wrong inside is for the log and not for the client.
func TestInnerTextStaysInside(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.addRoute("/error", func(*request) error { return errors.New("inner text") })
	env.addRoute("/panic", func(*request) error { panic("inner text") })
	env.addRoute("/wrapped", func(*request) error {
		return fmt.Errorf("inner text: %w", &store.Error{Code: store.CodeUnavailable, Message: "outer", Err: errors.New("inner text")})
	})
	for path, want := range map[string]store.Code{
		"/error": store.CodeInternal, "/panic": store.CodeInternal, "/wrapped": store.CodeUnavailable,
	} {
		answer := env.do(newRequest("GET", basePath+path, "key_read"))
		wantError(t, answer, want)
		if strings.Contains(answer.Body.String(), "inner") {
			t.Errorf("%s tells %s", path, answer.Body)
		}
		if log := env.LogOutput.String(); !strings.Contains(log, "inner text") || !strings.Contains(log, basePath+path) {
			t.Errorf("%s logs %s", path, log)
		}
	}
	if !strings.Contains(env.LogOutput.String(), "answer_test.go") {
		t.Error("the log lacks the stack of the panic")
	}
	if strings.Contains(env.LogOutput.String(), fixtureSecret) {
		t.Error("the log tells a secret")
	}
}

// A client that went away is nobody's fault.
func TestClientThatWentAway(t *testing.T) {
	env := newTestEnv(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []*http.Request{
		newRequest("GET", "/api/v1/members", "key_read"),
		newRequest("POST", testOpen, "key_write"),
	} {
		env.do(r.WithContext(ctx))
	}
	if log := env.LogOutput.String(); log != "" {
		t.Errorf("the log says %s", log)
	}
}

// An answer that breaks in the middle ends with its connection, so that nobody
// takes half of it for whole. net/http's own way to do that is let through.
func TestBrokenAnswer(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.addRoute("/half", func(x *request) error {
		x.answer(web.JSON(http.StatusOK, []byte(`{}`)))
		panic("in the middle")
	})
	env.addRoute("/abort", func(*request) error { panic(http.ErrAbortHandler) })
	for _, path := range []string{"/half", "/abort"} {
		r := newRequest("GET", "http://"+env.listen()+basePath+path, "key_read")
		if answer, err := http.DefaultTransport.RoundTrip(r); err == nil {
			answer.Body.Close()
			t.Errorf("%s: got %s", path, answer.Status)
		}
	}
}

// countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, &l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// An answer leaves in one write, however large it is and also over TLS.
func TestAnswerLeavesInOneWrite(t *testing.T) {
	for _, secure := range []bool{false, true} {
		env := newTestEnv(t, Config{})
		addMembers(env, 100)
		counting := &countingListener{Listener: kit.Loopback(t)}
		var config *tls.Config
		if secure {
			config = env.localTLS()
		}
		go env.server.Serve(counting, config)
		c := env.dial(counting.Addr().String(), config)
		from := bufio.NewReader(c)
		for _, path := range []string{"/api/v1/members?limit=100", "/api/v1/members?limit=60", "/api/v1/members?limit=1", "/api/v1/none"} {
			for i := range 2 {
				before := counting.writes.Load()
				fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read.%s\r\n\r\n", path, fixtureSecret)
				readAnswer(t, "GET", from)
				// TLS sends its session tickets with the first answer.
				if n := counting.writes.Load() - before; n != 1 && i > 0 {
					t.Errorf("TLS %v, %s: %d writes", secure, path, n)
				}
			}
		}
		env.server.http.Close()
	}
}

// HEAD is answered with the headers of GET, and not a byte more: the next
// answer on the connection follows at once.
func TestHead(t *testing.T) {
	env := newTestEnv(t, Config{})
	addMembers(env, 100)
	c := env.dial(env.listen(), nil)
	from := bufio.NewReader(c)
	ask := func(method string) rawAnswer {
		fmt.Fprintf(c, "%s /api/v1/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read.%s\r\n\r\n", method, fixtureSecret)
		return readAnswer(t, method, from)
	}
	head, get := ask("HEAD"), ask("GET")
	if head.status != get.status || head.header["Content-Length"][0] != get.header["Content-Length"][0] {
		t.Errorf("HEAD is answered\n%s\nand GET\n%s", head.text, get.text)
	}
}

// Refusing a large body does not wait for it.
func TestLargeBodyIsNotAwaited(t *testing.T) {
	env := newTestEnv(t, Config{})
	c := env.dial(env.listen(), nil)
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_write.%s\r\nContent-Length: %d\r\n\r\n", testOpen, fixtureSecret, 1<<30)
	from := bufio.NewReader(c)
	answer := readAnswer(t, "POST", from)
	if answer.status != "413 Request Entity Too Large" {
		t.Errorf("got %s", answer.status)
	}
	if _, err := from.ReadByte(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
}
