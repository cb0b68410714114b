package pgstore

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/internal/system"
)

// distantly dials such that all that goes over a connection takes so much longer, each
// way, as if the server were further away.
func distantly(d *net.Dialer, each time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		near, far := net.Pipe()
		go forward(far, c, each)
		go forward(c, far, each)
		return near, nil
	}
}

// underway is what was read at once; it may go on at due.
type underway struct {
	data []byte
	due  time.Time
}

// forward copies one direction of a connection until it ends, and with it the other.
func forward(to, from net.Conn, each time.Duration) {
	pieces := make(chan underway, 256)
	go arrive(to, from, pieces)
	defer close(pieces)
	for {
		data := make([]byte, 16<<10)
		n, err := from.Read(data)
		if n > 0 {
			pieces <- underway{data[:n], time.Now().Add(each)}
		}
		if err != nil {
			return
		}
	}
}

// arrive writes what is underway, in its time.
func arrive(to, from net.Conn, pieces <-chan underway) {
	for p := range pieces {
		if wait := time.Until(p.due); wait > 0 {
			system.Pause(wait)
		}
		if _, err := to.Write(p.data); err != nil {
			from.Close() // the rest is dropped
		}
	}
	to.Close()
	from.Close()
}
