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
	"time"

	"teamdata/store"
)

// caller is a client on one connection, as light as can be, so that what is
// measured is who answers.
type caller struct {
	conn   net.Conn
	from   *bufio.Reader
	body   []byte // of the last answer
	length int    // of the last answer, in bytes with its head
}

func (t *target) dial(ctx context.Context) (*caller, error) {
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: t.roots}}
	conn, err := dialer.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn, from: bufio.NewReaderSize(conn, 32<<10)}, nil
}

var contentLength = []byte("Content-Length: ")

// exchange makes a request and reads its answer, which must be 200.
func (c *caller) exchange(request string) error {
	if _, err := io.WriteString(c.conn, request); err != nil {
		return err
	}
	line, err := c.from.ReadSlice('\n')
	if err != nil {
		return unanswered(err)
	}
	ok := bytes.HasPrefix(line, []byte("HTTP/1.1 200 "))
	status := ""
	if !ok {
		status = string(bytes.TrimSpace(line))
	}
	c.length = len(line)
	if err := c.readRest(); err != nil {
		return unanswered(err)
	}
	if !ok {
		return fmt.Errorf("a request was answered %s: %.200s", status, c.body)
	}
	return nil
}

func unanswered(err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return fmt.Errorf("a request got no answer within %s", answerTimeout)
	}
	return fmt.Errorf("a request got no answer: %w", err)
}

// readRest reads what follows the status line.
func (c *caller) readRest() error {
	length := 0
	for {
		line, err := c.from.ReadSlice('\n')
		if err != nil {
			return err
		}
		c.length += len(line)
		if len(line) == 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	c.length += length
	_, err := io.ReadFull(c.from, c.body)
	return err
}

// deliveryID is the id in the answer of a test.
func (c *caller) deliveryID() string {
	id, _ := bytes.CutPrefix(c.body, []byte(`{"id":"`))
	id, _ = bytes.CutSuffix(id, []byte(`"}`))
	return string(id)
}

// answerTimeout is how long past its time a turn waits for answers.
const answerTimeout = 30 * time.Second

// likeATest is a request that looks like that for a test event, for who does
// not look at it.
func likeATest() string {
	return requestOf("POST", "/webhooks/whe_bench_00_00/test", "key_bench_00."+store.NewSecret())
}

func requestOf(method, path, key string) string {
	return fmt.Sprintf("%s /api/v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", method, path, key)
}
