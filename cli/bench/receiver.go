package bench

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"teamdata/internal/localca"
)

// receiver takes webhooks on as many addresses as are asked for: each endpoint
// has its own, as endpoints have. It speaks just enough HTTP/1.1 over TLS,
// verifies nothing, and notes when each webhook-id came first.
type receiver struct {
	config *tls.Config
	caFile string // of the authority to trust

	open sync.WaitGroup // listeners and connections

	guard   sync.Mutex
	closers map[io.Closer]struct{} // nil once it is closed

	receipts
}

// newReceiver makes a receiver, whose authority it writes to caFile.
func newReceiver(caFile string) (*receiver, error) {
	config, ca, err := ownTLS()
	if err != nil {
		return nil, err
	}
	r := &receiver{config: config, caFile: caFile, closers: map[io.Closer]struct{}{}}
	r.seen = map[string]time.Time{}
	return r, os.WriteFile(caFile, ca, 0o600)
}

// ownTLS is the configuration of a server on this machine, with an authority
// of its own.
func ownTLS() (config *tls.Config, caPEM []byte, err error) {
	ca, err := localca.NewCA(time.Now(), "bench")
	if err != nil {
		return nil, nil, err
	}
	text, err := ca.Issue(time.Now(), []string{"127.0.0.1"})
	if err != nil {
		return nil, nil, err
	}
	leaf, err := localca.LoadLeaf(text)
	return &tls.Config{Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS12}, ca.CertificatePEM(), err
}

// listen opens one more address and returns its URL. A silent one reads what it
// gets and never answers.
func (r *receiver) listen(silent bool) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	r.keep(l)
	r.open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if r.keep(conn) {
				r.open.Go(func() { r.converse(conn, silent) })
			}
		}
	})
	return "https://" + l.Addr().String() + "/hook", nil
}

// listenAll opens n addresses that answer.
func (r *receiver) listenAll(n int) (urls []string, err error) {
	for range n {
		url, err := r.listen(false)
		if err != nil {
			return nil, err
		}
		urls = append(urls, url)
	}
	return urls, nil
}

// keep remembers what is to be closed; after close it is closed at once.
func (r *receiver) keep(c io.Closer) bool {
	r.guard.Lock()
	defer r.guard.Unlock()
	if r.closers == nil {
		c.Close()
		return false
	}
	r.closers[c] = struct{}{}
	return true
}

func (r *receiver) close() {
	r.guard.Lock()
	closers := r.closers
	r.closers = nil
	r.guard.Unlock()
	for c := range closers {
		c.Close()
	}
	r.open.Wait()
}

var noContent = []byte("HTTP/1.1 204 No Content\r\n\r\n")

// converse reads requests until the sender goes.
func (r *receiver) converse(raw net.Conn, silent bool) {
	defer func() {
		raw.Close()
		r.guard.Lock()
		delete(r.closers, raw)
		r.guard.Unlock()
	}()
	conn := tls.Server(raw, r.config)
	from := bufio.NewReaderSize(conn, 4<<10)
	for {
		id, err := readWebhook(from)
		if err != nil {
			return
		}
		if silent {
			r.hold(1)
			io.Copy(io.Discard, from)
			r.hold(-1)
			return
		}
		r.note(id)
		if _, err := conn.Write(noContent); err != nil {
			return
		}
	}
}

// readWebhook reads one request to its end.
func readWebhook(from *bufio.Reader) (id string, err error) {
	length := 0
	for {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if len(line) == 2 {
			break
		}
		name, value, _ := bytes.Cut(line[:len(line)-2], []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("webhook-id")):
			id = string(value)
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return "", err
			}
		}
	}
	_, err = from.Discard(length)
	return id, err
}
