package app

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// A proxy that takes a moment is not taken for one that fails, however short attempts are.
func TestSlowEgressProxy(t *testing.T) {
	t.Parallel()
	l := kit.Loopback(t)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			<-time.After(500 * time.Millisecond)
			io.WriteString(c, "HTTP/1.1 400 x\r\nContent-Length: 0\r\n\r\n")
		}
	}()
	s := Settings{EgressProxy: "http://" + l.Addr().String(), AttemptTimeout: time.Second}
	p, err := s.NewEgressProxy(nil, nil, nil)
	kit.Must(t, err)
	defer p.Close()
	kit.Must(t, p.Check(t.Context()))
}
