package postgres

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// Direction is a way through a [Proxy].
type Direction int

const (
	ToServer Direction = iota
	ToClient
)

// Proxy passes TCP connections on to a server, and does to them what networks do.
type Proxy struct {
	server   *Server
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	moved *sync.Cond // the state below has changed
	delay time.Duration
	held  [2]bool
	down  bool
	links map[*link]bool
	count Counts
}

// Counts are what has passed a [Proxy].
type Counts struct {
	Connections int
	RoundTrips  int      // how often the client has sent something after an answer
	Bytes       [2]int64 // by direction
}

// link is one connection, with its two ends.
type link struct {
	ends   [2]net.Conn // by the direction that leads to them
	last   Direction   // in which something came last
	closed bool
}

// NewProxy starts a proxy to a server, which ends with the test.
func NewProxy(t testing.TB, server *Server) *Proxy {
	t.Helper()
	l := kit.Loopback(t)
	p := &Proxy{server: server, listener: l, links: map[*link]bool{}}
	p.moved = sync.NewCond(&p.mu)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// URL is that of a database by way of the proxy, without TLS.
func (p *Proxy) URL(database string) string {
	through := Server{Port: p.listener.Addr().(*net.TCPAddr).Port}
	return through.TCP(database) + "?sslmode=disable"
}

// Delay makes all that comes from now on take so much longer, each way.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Hold keeps back what goes in a direction, until Resume or Cut. TCP itself goes on
// answering, as if the other end were busy.
func (p *Proxy) Hold(d Direction) { p.set(d, true) }

// Resume lets go of what was held in a direction.
func (p *Proxy) Resume(d Direction) { p.set(d, false) }

func (p *Proxy) set(d Direction, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[d] = held
	p.moved.Broadcast()
}

// Cut resets all connections at both ends, drops what was on its way, and returns how
// many there were. New ones are taken, and nothing is held any more.
func (p *Proxy) Cut() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = [2]bool{}
	n = len(p.links)
	for l := range p.links {
		p.end(l, false)
	}
	return n
}

// Down resets all connections, and from now on each new one at once, until Up.
func (p *Proxy) Down() {
	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	p.Cut()
}

// Up takes new connections again.
func (p *Proxy) Up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// end closes a connection, and p.mu is held. Closed with linger, what was written
// still arrives.
func (p *Proxy) end(l *link, linger bool) {
	for _, end := range l.ends {
		if tcp, ok := end.(*net.TCPConn); ok && !linger {
			tcp.SetLinger(0)
		}
		end.Close()
	}
	l.closed = true
	delete(p.links, l)
	p.moved.Broadcast()
}

// Counts are what has passed so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.server.Port))
		if err != nil {
			client.Close()
			continue
		}
		l := &link{ends: [2]net.Conn{ToServer: server, ToClient: client}, last: ToClient}
		p.mu.Lock()
		p.count.Connections++
		if p.links[l] = true; p.down {
			p.end(l, false)
		}
		p.mu.Unlock()
		p.running.Go(func() { p.pass(l, ToServer) })
		p.running.Go(func() { p.pass(l, ToClient) })
	}
}

// chunk is what was read at once; it may go on at due.
type chunk struct {
	data []byte
	due  time.Time
}

// pass copies one direction of a connection until it ends.
func (p *Proxy) pass(l *link, d Direction) {
	chunks := make(chan chunk, 256)
	p.running.Go(func() { p.write(l, d, chunks) })
	defer close(chunks)
	for {
		data := make([]byte, 16<<10)
		n, err := l.ends[1-d].Read(data)
		if err != nil {
			return
		}
		chunks <- chunk{data[:n], p.passed(l, d, n)}
	}
}

// passed counts what was read, and returns when it may go on.
func (p *Proxy) passed(l *link, d Direction, n int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count.Bytes[d] += int64(n)
	if d == ToServer && l.last == ToClient {
		p.count.RoundTrips++
	}
	l.last = d
	return time.Now().Add(p.delay)
}

// write writes what comes out of one direction, in its time. The end of one direction
// ends the connection.
func (p *Proxy) write(l *link, d Direction, chunks <-chan chunk) {
	for c := range chunks {
		if wait := time.Until(c.due); wait > 0 {
			pause(wait)
		}
		if p.mayGo(l, d) {
			l.ends[d].Write(c.data) // what fails was cut
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(l, true)
}

// mayGo waits while a direction is held, and reports whether the connection is still
// there.
func (p *Proxy) mayGo(l *link, d Direction) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held[d] && !l.closed {
		p.moved.Wait()
	}
	return !l.closed
}
