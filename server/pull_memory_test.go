package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"

	"teamdata/e2e/kit"
)

// A thousand requests that wait over TLS cost at most 24 MiB more than their connections do
// without one.
func TestWaitingCostsLittle(t *testing.T) {
	const most = 24 << 20
	n := 1000
	if kit.Raced {
		n = 50 // the detector has its own memory
	}
	env := newPullEnv(t, Config{})
	env.server.http.Handler = env.server // what watches it keeps bodies
	env.listenWith(true)
	type conn struct {
		*tls.Conn
		answers *bufio.Reader
	}
	conns := make([]conn, n)
	ask := func(c conn, body string) {
		fmt.Fprintf(c, "POST /pull/whe_pull HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key_pull.%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", fixtureSecret, len(body), body)
	}
	read := func(c conn) {
		response, err := http.ReadResponse(c.answers, nil)
		kit.Must(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		if response.StatusCode != http.StatusOK {
			t.Fatalf("answered %d", response.StatusCode)
		}
		kit.Must(t, err)
	}
	for i := range conns {
		c, err := tls.Dial("tcp", env.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		kit.Must(t, err)
		defer c.Close()
		conns[i] = conn{c, bufio.NewReaderSize(c, 1024)}
		ask(conns[i], "")
		read(conns[i])
	}
	idle := inUse()
	for i := range conns {
		ask(conns[i], `{"limit":100,"waitSeconds":60,"leaseSeconds":60}`)
	}
	env.waitForWaiting(n)
	waiting := inUse()
	t.Logf("%d idle connections: %d KiB; waiting: %d KiB, %d bytes each more", n, idle>>10, waiting>>10, (waiting-idle)/n)
	if more := (waiting - idle) / n * 1000; more > most {
		t.Errorf("1,000 requests that wait cost %d KiB, at most %d are allowed", more>>10, most>>10)
	}
	env.server.pulls.stop()
	for _, c := range conns {
		read(c)
	}
}

// inUse is the memory that is in use, in bytes.
func inUse() int {
	runtime.GC() // shrinks stacks
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}
