package server

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"teamdata/server/localca"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// The benchmarks hold the server to a floor that is measured in the same run,
// in turns: a handler that does nothing but write an answer of the same size,
// on an http.Server with the same settings and the same TLS. "ratio" is our
// requests a second by the floor's.

// BenchmarkMembersPage asks for pages of 100 members on 32 connections.
func BenchmarkMembersPage(b *testing.B) {
	w, config := newBenchWorld(b)
	addMembers(w)
	const path = "/api/v1/members?limit=100"
	body := w.do(request("GET", path, "key_read")).Body.Bytes()
	ask := func() []byte { return benchRequest("GET", path, "key_read", "") }
	compare(b, 32, 200,
		startBench(b, w.server.serveBench(), config, ask),
		startBench(b, bareServer(w.server, body), config, ask))
}

// BenchmarkWebhookTest sends tests on 64 connections; each is committed to the
// disk before its answer.
func BenchmarkWebhookTest(b *testing.B) {
	answer := []byte(`{"id":"whd_00000000000000000000000000"}                     `)
	for _, variant := range []struct {
		name string
		kept int // idempotency records at the start
		key  func() string
	}{
		{"plain", 0, func() string { return "" }},
		{"idempotent", 200_000, func() string { return "Idempotency-Key: " + rand.Text() + "\r\n" }},
	} {
		b.Run(variant.name, func(b *testing.B) {
			w, config := newBenchWorld(b)
			keepRecords(w, variant.kept)
			ask := func() []byte { return benchRequest("POST", testOpen, "key_write", variant.key()) }
			compare(b, 64, 50,
				startBench(b, w.server.serveBench(), config, ask),
				startBench(b, bareServer(w.server, answer), config, ask))
		})
	}
}

// BenchmarkWebhookTestAlone is one caller by itself: the middle of its answer
// times, beside that of a commit of the store and of a sync of the disk.
func BenchmarkWebhookTestAlone(b *testing.B) {
	w, config := newBenchWorld(b)
	ask := func() []byte { return benchRequest("POST", testOpen, "key_write", "") }
	target := startBench(b, w.server.serveBench(), config, ask)
	caller := target.dial(b)
	file, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var answers, commits, syncs []time.Duration
	for b.Loop() {
		answers = append(answers, timed(func() { caller.exchange(b) }))
		commits = append(commits, timed(func() {
			w.update(func(tx store.Tx) error { return tx.PutCertificate("probe", make([]byte, 512)) })
		}))
		syncs = append(syncs, timed(func() {
			file.WriteAt(make([]byte, 4096), 0)
			file.Sync()
		}))
	}
	for unit, times := range map[string][]time.Duration{"answer-p50-µs": answers, "commit-p50-µs": commits, "sync-p50-µs": syncs} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), unit)
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// newBenchWorld is a fixture with limits that nobody reaches, on a store that
// syncs.
func newBenchWorld(b *testing.B) (*world, *tls.Config) {
	w := &world{TB: b, clock: &clock{now: time.Now()}, log: &lockedBuffer{}}
	s, err := boltstore.Open(filepath.Join(b.TempDir(), "teamdata.db"), boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	w.store = s
	w.update(fillFixture)
	w.server = New(s, Config{KeyRate: 1e9, ClientRate: 1e9})
	config, _, err := LocalTLS(b.Context(), s, localca.LocalHosts(""), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return w, config
}

// keepRecords fills the store with idempotency records.
func keepRecords(w *world, n int) {
	for n > 0 {
		w.update(func(tx store.Tx) error {
			for range 10_000 {
				err := tx.AddIdempotencyRecord(store.IdempotencyRecord{
					OrgID: "org_acme", Key: rand.Text(), FirstUse: tx.Now(),
					Answer: jsonAnswer(http.StatusOK, make([]byte, 38)),
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		n -= 10_000
	}
}

// benchServer is something that serves a listener until it is closed.
type benchServer struct {
	serve func(net.Listener, *tls.Config)
	close func() error
}

func (s *Server) serveBench() benchServer {
	return benchServer{func(l net.Listener, c *tls.Config) { s.Serve(l, c) }, s.http.Close}
}

// bareServer is the floor.
func bareServer(like *Server, body []byte) benchServer {
	length := strconv.Itoa(len(body))
	bare := &http.Server{
		ReadHeaderTimeout: like.http.ReadHeaderTimeout, ReadTimeout: like.http.ReadTimeout,
		WriteTimeout: like.http.WriteTimeout, IdleTimeout: like.http.IdleTimeout, MaxHeaderBytes: like.http.MaxHeaderBytes,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("Content-Length", length)
			w.Write(body)
		}),
	}
	return benchServer{func(l net.Listener, c *tls.Config) { bare.Serve(tls.NewListener(l, c)) }, bare.Close}
}

// target is a server to be asked.
type target struct {
	addr string
	ask  func() []byte // makes a request
}

func startBench(b *testing.B, s benchServer, config *tls.Config, ask func() []byte) target {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go s.serve(l, config)
	b.Cleanup(func() { s.close() })
	return target{l.Addr().String(), ask}
}

func benchRequest(method, path, key, header string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s.%s\r\n%s\r\n", method, path, key, fixtureSecret, header)
}

// caller is a client on one connection, as light as can be.
type caller struct {
	target
	conn net.Conn
	from *bufio.Reader
}

func (t target) dial(b *testing.B) *caller {
	c, err := tls.Dial("tcp", t.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return &caller{t, c, bufio.NewReaderSize(c, 32<<10)}
}

var contentLength = []byte("Content-Length: ")

// exchange makes a request and reads the answer, which must be 200.
func (c *caller) exchange(b *testing.B) {
	c.conn.Write(c.ask())
	status, err := c.from.ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		b.Errorf("%s %v", status, err)
		return
	}
	length := 0
	for {
		line, err := c.from.ReadSlice('\n')
		if err != nil {
			b.Error(err)
			return
		}
		if len(line) == 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, contentLength); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	io.CopyN(io.Discard, c.from, int64(length))
}

// compare lets the callers of both servers ask in turns.
func compare(b *testing.B, callers, each int, ours, floor target) {
	var spent [2]time.Duration
	var crowds [2][]*caller
	for i, t := range []target{ours, floor} {
		for range callers {
			crowds[i] = append(crowds[i], t.dial(b))
		}
		askAll(b, crowds[i], each) // to warm up
	}
	rounds := 0
	for b.Loop() {
		for i := range crowds {
			spent[i] += timed(func() { askAll(b, crowds[i], each) })
		}
		rounds++
	}
	requests := float64(rounds * callers * each)
	b.ReportMetric(requests/spent[0].Seconds(), "requests/s")
	b.ReportMetric(requests/spent[1].Seconds(), "floor/s")
	b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op") // a round of both says nothing
}

func askAll(b *testing.B, callers []*caller, each int) {
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			for range each {
				c.exchange(b)
			}
		})
	}
	all.Wait()
}
