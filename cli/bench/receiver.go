package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/internal/localca"
)

// receiver takes webhooks on as many addresses as are asked for: each endpoint
// has its own, as endpoints have. It speaks just enough HTTP/1.1 over TLS,
// verifies nothing, and keeps when each webhook-id came first.
type receiver struct {
	config  *tls.Config
	caFile  string // of the authority to trust
	ctx     context.Context
	open    sync.WaitGroup // listeners and connections
	hanging atomic.Int64   // senders waiting for an answer that never comes

	mu         sync.Mutex
	came       map[string]time.Time // when each webhook-id came first
	last       time.Time            // when the newest of them came
	duplicates int                  // webhooks that came again
}

// newReceiver makes a receiver that is closed when the measurement or ctx ends.
// Its authority is written to a file of this run.
func (s *session) newReceiver(ctx context.Context, caFile string) (*receiver, error) {
	ctx, end := context.WithCancel(ctx)
	r := &receiver{caFile: s.path(caFile), ctx: ctx, came: map[string]time.Time{}}
	s.onEnd(func() {
		end()
		r.open.Wait()
	})
	var err error
	r.config, err = localca.Loopback(time.Now(), "bench", r.caFile)
	return r, err
}

// listen opens n more addresses and returns their URLs. Silent ones read what
// they get and never answer.
func (r *receiver) listen(n int, silent bool) (urls []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		context.AfterFunc(r.ctx, func() { l.Close() })
		r.open.Go(func() { r.accept(l, silent) })
		urls = append(urls, "https://"+l.Addr().String()+"/hook")
	}
	return urls, nil
}

func (r *receiver) accept(l net.Listener, silent bool) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.open.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(r.ctx, func() { conn.Close() })()
			r.serve(tls.Server(conn, r.config), silent)
		})
	}
}

var noContent = []byte("HTTP/1.1 204 No Content\r\n\r\n")

// serve reads requests until the sender disconnects.
func (r *receiver) serve(conn net.Conn, silent bool) {
	from := bufio.NewReaderSize(conn, 4<<10)
	for {
		h, err := readHead(from) // its first line is taken for a header
		if err == nil {
			_, err = from.Discard(h.body)
		}
		if err != nil {
			return
		}
		if silent {
			r.hanging.Add(1)
			io.Copy(io.Discard, from)
			r.hanging.Add(-1)
			return
		}
		r.take(h.webhookID)
		if _, err := conn.Write(noContent); err != nil {
			return
		}
	}
}

// take counts a webhook.
func (r *receiver) take(id string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.came[id]; again {
		r.duplicates++
		return
	}
	r.came[id], r.last = now, now
}

// count is how many different webhooks came so far.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.came)
}

// stallTimeout is how long to wait without a receipt before giving up.
const stallTimeout = 30 * time.Second

// await waits until n different webhooks have arrived in total, and returns when
// the last one did.
func (r *receiver) await(ctx context.Context, n int) (last time.Time, err error) {
	for begun := time.Now(); ; {
		r.mu.Lock()
		came, last := len(r.came), r.last
		r.mu.Unlock()
		switch {
		case came >= n:
			return last, nil
		case min(time.Since(begun), time.Since(last)) > stallTimeout:
			return last, fmt.Errorf("%d of %d webhooks came, and none in the last %s", came, n, stallTimeout)
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// delays are how long it took to the receipts, sorted. A receipt may come before
// the answer is read, and counts as 0 from there.
type delays struct{ fromRequest, fromAnswer []time.Duration }

func (r *receiver) delays(samples []sample) (d delays) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range samples {
		came := r.came[s.id]
		d.fromRequest = append(d.fromRequest, came.Sub(s.sent))
		d.fromAnswer = append(d.fromAnswer, max(0, came.Sub(s.answered)))
	}
	slices.Sort(d.fromRequest)
	slices.Sort(d.fromAnswer)
	return d
}
