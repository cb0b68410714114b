package delivery

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

// Of an answer without end, little is taken and nothing kept, wherever it has
// no end.
func TestLargeAnswers(t *testing.T) {
	const gigabyte = 1 << 30
	kilobyte := strings.Repeat("x", 1<<10)
	fields := "X: " + kilobyte + "\r\n"
	for name, test := range map[string]struct {
		begin, piece string
		want         store.DeliveryState
		says         string
	}{
		"body":     {"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", kilobyte, store.StateAcknowledged, ""},
		"chunks":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "400\r\n" + kilobyte + "\r\n", store.StateAcknowledged, ""},
		"headers":  {"HTTP/1.1 200 OK\r\n", fields, store.StateFailed, tooLong},
		"a header": {"HTTP/1.1 200 OK\r\nX: ", kilobyte, store.StateFailed, tooLong},
		"trailers": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", fields, store.StateAcknowledged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.run(Config{RootCAs: trusted().roots(), Schedule: []time.Duration{}})
			var written atomic.Int64
			w := newWire(t, secured(goodTLS(), afterRequest(func(c net.Conn) {
				n, _ := io.WriteString(c, test.begin)
				for err := error(nil); err == nil && n < gigabyte; {
					n, err = io.WriteString(c, test.piece)
					written.Add(int64(n))
				}
			})))
			before := heap()
			a := b.onlyAttempt(w.url(), test.want)
			w.end()
			if a.Reason != test.says {
				t.Errorf("the reason is %q, not %q", a.Reason, test.says)
			}
			if len(a.Answer) > store.MaxKeptAnswer {
				t.Errorf("%d bytes of the answer are kept", len(a.Answer))
			}
			const socket = 16 << 20 // more than what the buffers of two sockets hold
			if n := written.Load(); n > socket {
				t.Errorf("the receiver could write %d bytes", n)
			}
			if grown := heap() - before; grown > 8<<20 {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
