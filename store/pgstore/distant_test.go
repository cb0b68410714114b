package pgstore

import (
	"net"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// What is further away answers later, whatever is sent, and not before it is asked.
func TestDistantly(t *testing.T) {
	target, err := ParseTarget(postgres.New(t))
	kit.Must(t, err)
	target.away = 40 * time.Millisecond
	p := newPool(target, 1)
	defer p.close()
	for _, length := range []int{1, 300_000} { // more than is read at once
		c, err := p.acquire(bg)
		kit.Must(t, err)
		asked := time.Now()
		q := newQuery("SELECT $1::bytea")
		q.values = [][]byte{make([]byte, length)}
		rows, err := c.rows(bg, q)
		if err != nil || len(rows[0][0]) != length {
			t.Errorf("of %d bytes: %v", length, err)
		}
		if took := time.Since(asked); took < target.away {
			t.Errorf("answered after %s", took)
		}
		p.release(c)
	}
}

// The end of one side ends the other.
func TestDistantEnds(t *testing.T) {
	l := kit.Loopback(t)
	for _, end := range []func(near, server net.Conn) (other net.Conn){
		func(near, server net.Conn) net.Conn { near.Close(); return server },
		func(near, server net.Conn) net.Conn { server.Close(); return near },
	} {
		near, err := distantly(new(net.Dialer), time.Millisecond)(bg, "tcp", l.Addr().String())
		kit.Must(t, err)
		server, err := l.Accept()
		kit.Must(t, err)
		other := end(near, server)
		other.SetDeadline(time.Now().Add(10 * time.Second))
		if n, err := other.Read(make([]byte, 1)); n > 0 || isTimeout(err) {
			t.Errorf("read %d: %v", n, err)
		}
		near.Close()
		server.Close()
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
