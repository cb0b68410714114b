package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// client is one connection to a server, as light as can be, so that what is
// measured is the server.
type client struct {
	conn   net.Conn
	from   *bufio.Reader
	body   []byte // of the last answer
	length int    // of the last answer, in bytes with its head
}

func (t *target) dial(ctx context.Context) (*client, error) {
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: t.roots}}
	conn, err := dialer.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, from: bufio.NewReaderSize(conn, 32<<10)}, nil
}

// requestOf returns a request of the public API as sent over the wire.
func requestOf(method, path, key string) string {
	return fmt.Sprintf("%s /api/v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", method, path, key)
}

// do makes a request and reads its answer, which must be 200.
func (c *client) do(request string) error {
	if _, err := io.WriteString(c.conn, request); err != nil {
		return err
	}
	status, err := c.read()
	switch late, ok := errors.AsType[net.Error](err); {
	case ok && late.Timeout():
		return fmt.Errorf("a request got no answer within %s", answerTimeout)
	case err != nil:
		return fmt.Errorf("a request got no answer: %w", err)
	case status != "":
		return fmt.Errorf("a request was answered %s: %.200s", status, c.body)
	}
	return nil
}

// read reads an answer, and returns its status line unless that is 200.
func (c *client) read() (status string, err error) {
	line, err := c.from.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
		status = string(bytes.TrimSpace(line))
	}
	c.length = len(line)
	h, err := readHead(c.from)
	if err != nil {
		return "", err
	}
	c.length += h.size + h.body
	if cap(c.body) < h.body {
		c.body = make([]byte, h.body)
	}
	c.body = c.body[:h.body]
	_, err = io.ReadFull(c.from, c.body)
	return status, err
}

// head is what matters of an HTTP/1.1 message's.
type head struct {
	size, body int // bytes: of the head, and of the body that follows
	webhookID  string
}

// readHead reads the lines that follow the first.
func readHead(from *bufio.Reader) (h head, err error) {
	for {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		h.size += len(line)
		if line = bytes.TrimSuffix(line, []byte("\r\n")); len(line) == 0 {
			return h, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("webhook-id")):
			h.webhookID = string(value)
		case bytes.EqualFold(name, []byte("content-length")):
			if h.body, err = strconv.Atoi(string(value)); err != nil {
				return h, err
			}
		}
	}
}

// deliveryID is the id in the answer to a test.
func (c *client) deliveryID() string {
	id, _ := bytes.CutPrefix(c.body, []byte(`{"id":"`))
	id, _ = bytes.CutSuffix(id, []byte(`"}`))
	return string(id)
}

// answerTimeout is how long past its time a turn waits for answers.
const answerTimeout = 30 * time.Second

// clients are the clients of one server, each on its own connection.
type clients []*client

// connect connects n clients.
func (s *session) connect(ctx context.Context, t target, n int) (clients, error) {
	c := make(clients, n)
	s.onEnd(c.close)
	return c, together(ctx, n, func(ctx context.Context, i int) (err error) {
		c[i], err = t.dial(ctx)
		return err
	})
}

func (c clients) close() {
	for _, one := range c {
		if one != nil {
			one.conn.Close()
		}
	}
}

// together runs n functions at once, and returns the first error, which ends the
// context of the others.
func together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// all has every client do something at once, and returns the first error. It
// takes no longer than a time and answerTimeout; ctx ends it.
func (c clients) all(ctx context.Context, lasts time.Duration, do func(i int) error) error {
	return together(ctx, len(c), func(ctx context.Context, i int) error {
		c[i].conn.SetDeadline(time.Now().Add(lasts + answerTimeout))
		defer context.AfterFunc(ctx, func() { c[i].conn.SetDeadline(time.Unix(1, 0)) })()
		return do(i)
	})
}

// closedLoop has each client send one request after the other while there is more
// to do, client i request(i), and returns how many were answered, and how long all
// of it took, which is bounded.
func (c clients) closedLoop(ctx context.Context, bound time.Duration, more func() bool, request func(i int) string) (answered int64, took time.Duration, err error) {
	var count atomic.Int64
	start := time.Now()
	err = c.all(ctx, bound, func(i int) error {
		for text := request(i); more(); count.Add(1) {
			if err := c[i].do(text); err != nil {
				return err
			}
		}
		return nil
	})
	return count.Load(), time.Since(start), err
}

// maxWarmUp is how long a server is warmed up at most: the first requests are slower.
const maxWarmUp = 200 * time.Millisecond

// load connects n clients, and makes a turn of having them send the same request
// for a time, after a warm-up, in which each sends at least one. The turn returns the
// answers per second.
func (s *session) load(ctx context.Context, t target, n int, request string) (c clients, turn turn, err error) {
	sendFor := func(ctx context.Context, lasts time.Duration) (float64, error) {
		end := time.Now().Add(lasts)
		answered, took, err := c.closedLoop(ctx, lasts, func() bool { return time.Now().Before(end) }, func(int) string { return request })
		return float64(answered) / took.Seconds(), err
	}
	if c, err = s.connect(ctx, t, n); err == nil {
		err = c.all(ctx, maxWarmUp, func(i int) error { return c[i].do(request) })
	}
	if err == nil {
		_, err = sendFor(ctx, min(s.Duration/10, maxWarmUp))
	}
	return c, func(ctx context.Context) (float64, error) { return sendFor(ctx, s.Duration) }, err
}
