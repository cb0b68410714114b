package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/localca"

	"teamdata/wire/web"
)

// localTLS is the configuration of a server for this machine.
func (env *testEnv) localTLS() *tls.Config {
	env.Helper()
	config, _, err := LocalTLS(env.Context(), env.Store, localca.LocalHosts(""), time.Now())
	kit.Must(env, err)
	return config
}

// dial connects to a server, over TLS if it has a configuration.
func (env *testEnv) dial(addr string, config *tls.Config) net.Conn {
	env.Helper()
	c, err := net.Dial("tcp", addr)
	kit.Must(env, err)
	env.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if config != nil {
		return tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // what it is about is not trust
	}
	return c
}

// From the start of Shutdown on, what comes on a connection that is open gets
// 503, and the connection is closed.
func TestShutdownAnswersOpenConnections(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = time.Hour // ended by the context
	c := env.dial(env.listen(), nil)
	from := bufio.NewReader(c)
	ask := func() rawAnswer {
		fmt.Fprintf(c, "GET /api/v1/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read.%s\r\n\r\n", fixtureSecret)
		return readAnswer(t, "GET", from)
	}
	ask()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- env.server.Shutdown(ctx) }()

	answer := ask()
	for answer.status == "200 OK" {
		answer = ask()
	}
	if answer.status != "503 Service Unavailable" || answer.header["Retry-After"] == nil || answer.header["Connection"] == nil {
		t.Errorf("got\n%s", answer.text)
	}
	if _, err := from.ReadByte(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
	if log := env.LogOutput.String(); log != "" {
		t.Errorf("the log says %s", log)
	}
	cancel()
	<-ended
}

// Where no connection is open, nobody is to be answered first.
func TestShutdownWithoutConnections(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = time.Hour
	env.listen()
	if err := env.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Once the last connection is closed, nobody is left to be answered.
func TestShutdownEndsWithTheLastConnection(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = time.Hour
	addr := env.listen()
	var open []net.Conn
	for range 2 {
		c := env.dial(addr, nil)
		fmt.Fprintf(c, "GET /api/v1/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read.%s\r\n\r\n", fixtureSecret)
		readAnswer(t, "GET", bufio.NewReader(c))
		open = append(open, c)
	}
	ended := make(chan error, 1)
	go func() { ended <- env.server.Shutdown(t.Context()) }()
	for _, c := range open {
		select {
		case err := <-ended:
			t.Fatalf("it ended with a connection open: %v", err)
		default:
			c.Close()
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// slowListener hands on what it accepted when it is told to.
type slowListener struct {
	net.Listener
	accepted, hand chan struct{}
	closed         context.CancelFunc
}

func (l slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		close(l.accepted)
		<-l.hand
	}
	return c, err
}

func (l slowListener) Close() error {
	l.closed()
	return l.Listener.Close()
}

// A connection that is accepted as Shutdown closes the listener, before it is counted,
// is answered.
func TestShutdownAnswersWhatIsAccepted(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = time.Hour
	plain := kit.Loopback(t)
	closed, closing := context.WithCancel(t.Context())
	l := slowListener{plain, make(chan struct{}), make(chan struct{}), closing}
	served := make(chan error, 2)
	config := env.localTLS()
	go func() { served <- env.server.Serve(l, config) }()
	c := env.dial(plain.Addr().String(), config)
	<-l.accepted
	go func() { served <- env.server.Shutdown(t.Context()) }()
	<-closed.Done()
	close(l.hand)
	fmt.Fprintf(c, "GET /api/v1/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read.%s\r\n\r\n", fixtureSecret)
	if answer := readAnswer(t, "GET", bufio.NewReader(c)); answer.status != "503 Service Unavailable" {
		t.Errorf("got\n%s", answer.text)
	}
	c.Close()
	for range 2 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// A handshake that is under way as Shutdown closes the listener ends as any other, whatever
// the delays are.
func TestShutdownAwaitsHandshakes(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = 0
	plain := kit.Loopback(t)
	closed, closing := context.WithCancel(t.Context())
	l := slowListener{plain, make(chan struct{}), make(chan struct{}), closing}
	close(l.hand)
	served := make(chan error, 2)
	config := env.localTLS()
	go func() { served <- env.server.Serve(l, config) }()
	c := env.dial(plain.Addr().String(), config).(*tls.Conn)
	<-l.accepted
	go func() { served <- env.server.Shutdown(t.Context()) }()
	<-closed.Done()
	if err := c.Handshake(); err != nil {
		t.Error(err)
	}
	c.Close()
	for range 2 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// A request that runs when Shutdown begins is answered in full.
func TestShutdownWaitsForWhatRuns(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = 0
	running, release := make(chan struct{}), make(chan struct{})
	env.addRoute("/slow", func(x *request) error {
		close(running)
		<-release
		x.answer(web.JSON(http.StatusOK, []byte(`{"slow":true}`)))
		return nil
	})
	c := env.dial(env.listen(), nil)
	fmt.Fprintf(c, "GET /api/v1/slow HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read.%s\r\n\r\n", fixtureSecret)
	<-running
	ended := make(chan error, 1)
	go func() { ended <- env.server.Shutdown(t.Context()) }()
	env.waitForRefusal()
	close(release)
	if answer := readAnswer(t, "GET", bufio.NewReader(c)); answer.body != `{"slow":true}` {
		t.Errorf("got\n%s", answer.text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// dialUntilServed connects to the server, which knows of it on return.
func (env *testEnv) dialUntilServed() {
	accepted := make(chan struct{})
	var once sync.Once
	env.server.http.ConnState = func(net.Conn, http.ConnState) { once.Do(func() { close(accepted) }) }
	env.dial(env.listen(), nil)
	<-accepted
}

// waitForRefusal returns when the listener is closed: Shutdown has begun.
func (env *testEnv) waitForRefusal() {
	for {
		c, err := net.Dial("tcp", env.addr)
		if err != nil {
			return
		}
		c.Close()
	}
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.drainDelay = 0
	env.dialUntilServed()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		env.waitForRefusal()
		cancel()
	}()
	if err := env.server.Shutdown(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// A server that is stopped before it serves closes what it was to serve, also when both
// happen at the same time.
func TestServeOnceStopped(t *testing.T) {
	for range 20 {
		env := newTestEnv(t, Config{})
		env.server.drainDelay = 0
		l := kit.Loopback(t)
		served := make(chan error, 1)
		go func() { served <- env.server.Serve(l, env.localTLS()) }()
		if err := env.server.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if c, err := l.Accept(); err == nil {
			c.Close()
			t.Error("the listener is open")
		}
	}
}

// Over TLS the server speaks HTTP/2 and HTTP/1.1, and TLS 1.2 at least.
func TestProtocols(t *testing.T) {
	env := newTestEnv(t, Config{})
	addMembers(env, 100)
	l := kit.Loopback(t)
	go env.server.Serve(l, env.localTLS())
	defer env.server.http.Close()
	bodies := map[string]string{}
	for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			ForceAttemptHTTP2: protocol == "HTTP/2.0",
		}
		defer transport.CloseIdleConnections()
		answer, err := transport.RoundTrip(newRequest("GET", "https://"+l.Addr().String()+"/api/v1/members?limit=100", "key_read"))
		kit.Must(t, err)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.Proto != protocol || answer.StatusCode != http.StatusOK || answer.Header.Get("API-Version") == "" {
			t.Errorf("got %s %s, %v", answer.Proto, answer.Status, err)
		}
		bodies[protocol] = string(body)
	}
	if bodies["HTTP/2.0"] != bodies["HTTP/1.1"] {
		t.Error("the protocols carry different bodies")
	}
	old := tls.Client(env.dial(l.Addr().String(), nil), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err := old.Handshake(); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
}

// What single connections do wrong is told at debug level only.
func TestConnectionLog(t *testing.T) {
	env := newTestEnv(t, Config{})
	connectionLog{env.server.config.Log}.Write([]byte("http: TLS handshake error\n"))
	if log := env.LogOutput.String(); !strings.Contains(log, `"level":"debug"`) {
		t.Errorf("the log says %s", log)
	}
}
