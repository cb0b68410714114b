//go:build unix

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
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/orgs"
	"teamdata/internal/localca"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/wire/web"
)

// The benchmarks hold the server to a baseline that is measured in the same run,
// in turns: a handler that does nothing but write an answer of the same size,
// on an http.Server with the same settings and the same TLS. "ratio" is our
// requests a second by the baseline's.

// BenchmarkMembersPage asks for pages of 100 members on 32 connections: for the
// first one again and again, and for one after the other.
func BenchmarkMembersPage(b *testing.B) {
	const path = "/api/v1/members?limit=100"
	for _, variant := range []struct {
		name    string
		members int
		walk    bool
	}{
		{"first", 100, false},
		{"walked", 20_000, true},
	} {
		b.Run(variant.name, func(b *testing.B) {
			env, config := newBenchEnv(b)
			addMembers(env, variant.members)
			body := env.do(newRequest("GET", path, "key_read")).Body.Bytes()
			ask := target{request: benchRequest("GET", path, "key_read"), walk: variant.walk}
			compare(b, 32,
				startBench(b, env.server.serveBench(), config, ask),
				startBench(b, bareServer(env.server, body), config, ask))
		})
	}
}

// BenchmarkRequest is what the server's own part of a request takes, beneath
// net/http: a page of 100 members, and a test on a store that does not sync.
func BenchmarkRequest(b *testing.B) {
	for _, r := range []struct{ name, method, path, key string }{
		{"page", "GET", "/api/v1/members?limit=100", "key_read"},
		{"test", "POST", testOpen, "key_write"},
	} {
		b.Run(r.name, func(b *testing.B) {
			env := newTestEnv(b, Config{KeyRate: DefaultKeyRate, ClientRate: DefaultClientRate})
			addMembers(env, 100)
			request := newRequest(r.method, r.path, r.key)
			w := unread{}
			b.ReportAllocs()
			for b.Loop() {
				env.Advance(time.Second)
				clear(w)
				env.server.ServeHTTP(w, request)
			}
		})
	}
}

// unread is an answer that nobody reads.
type unread http.Header

func (u unread) Header() http.Header         { return http.Header(u) }
func (u unread) Write(b []byte) (int, error) { return len(b), nil }
func (u unread) WriteHeader(int)             {}

// BenchmarkWebhookTest sends tests on 64 connections; each is committed to the
// disk before its answer.
func BenchmarkWebhookTest(b *testing.B) {
	answer := []byte(`{"id":"whd_00000000000000000000000000"}                     `)
	for _, variant := range []struct {
		name string
		kept int // idempotency records at the start
		key  bool
	}{
		{"plain", 0, false},
		{"idempotent", 200_000, true},
	} {
		b.Run(variant.name, func(b *testing.B) {
			env, config := newBenchEnv(b)
			keepRecords(env, variant.kept)
			ask := target{request: benchRequest("POST", testOpen, "key_write"), key: variant.key}
			compare(b, 64,
				startBench(b, env.server.serveBench(), config, ask),
				startBench(b, bareServer(env.server, answer), config, ask))
		})
	}
}

// BenchmarkWebhookTestAlone is one client by itself: the middle of its answer
// times, beside that of a commit of the store and of a sync of the disk.
func BenchmarkWebhookTestAlone(b *testing.B) {
	env, config := newBenchEnv(b)
	ask := target{request: benchRequest("POST", testOpen, "key_write")}
	benchClient := startBench(b, env.server.serveBench(), config, ask).dial(b)
	file, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	kit.Must(b, err)
	defer file.Close()
	var answers, commits, syncs []time.Duration
	for b.Loop() {
		answers = append(answers, timed(func() { benchClient.exchange(b) }))
		commits = append(commits, timed(func() {
			env.Update(func(tx store.Tx) error { return tx.PutCertificate("probe", make([]byte, 512)) })
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

// newBenchEnv is a fixture with limits that nobody reaches, on a store that
// syncs.
func newBenchEnv(b *testing.B) (*testEnv, *tls.Config) {
	env := &testEnv{storeEnv: kit.NewEnv(b, func(path string, _ func() time.Time) (store.Engine, error) {
		return boltstore.Open(path, boltstore.Options{})
	}, orgs.Fill)}
	env.server = New(env.Store, Config{KeyRate: 1e9, ClientRate: 1e9})
	config, _, err := LocalTLS(b.Context(), env.Store, localca.LocalHosts(""), time.Now())
	kit.Must(b, err)
	return env, config
}

// keepRecords fills the store with idempotency records.
func keepRecords(env *testEnv, n int) {
	for n > 0 {
		env.Update(func(tx store.Tx) error {
			for range 10_000 {
				err := tx.AddIdempotencyRecord(store.IdempotencyRecord{
					OrgID: "org_acme", Key: rand.Text(), FirstUse: tx.Now(),
					Answer: web.JSON(http.StatusOK, make([]byte, 38)),
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

// bareServer is the baseline.
func bareServer(like *Server, body []byte) benchServer {
	length := strconv.Itoa(len(body))
	bare := &http.Server{
		ReadHeaderTimeout: like.http.ReadHeaderTimeout, ReadTimeout: like.http.ReadTimeout,
		WriteTimeout: like.http.WriteTimeout, IdleTimeout: like.http.IdleTimeout, MaxHeaderBytes: like.http.MaxHeaderBytes,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", web.JSONType)
			w.Header().Set("Content-Length", length)
			w.Write(body)
		}),
	}
	return benchServer{func(l net.Listener, c *tls.Config) { bare.Serve(tls.NewListener(l, c)) }, bare.Close}
}

// target is a server to be asked.
type target struct {
	addr    string
	request string // without the empty line at its end
	key     bool   // each request carries a new Idempotency-Key
	walk    bool   // each request is for the page after the last one
}

func startBench(b *testing.B, s benchServer, config *tls.Config, t target) target {
	l := kit.Loopback(b)
	go s.serve(l, config)
	b.Cleanup(func() { s.close() })
	t.addr = l.Addr().String()
	return t
}

func benchRequest(method, path, key string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s.%s\r\n", method, path, key, fixtureSecret)
}

// ask is the next request; after is the position that the last page ended at.
func (t target) ask(after []byte) string {
	request := t.request
	if len(after) > 0 {
		request = strings.Replace(request, " HTTP/1.1", "&after="+string(after)+" HTTP/1.1", 1)
	}
	if t.key {
		request += "Idempotency-Key: " + rand.Text() + "\r\n"
	}
	return request + "\r\n"
}

// benchClient is a client on one connection, as light as can be.
type benchClient struct {
	target
	conn  net.Conn
	from  *bufio.Reader
	body  []byte
	after []byte // the position that the last page ended at, if the list is walked; part of body
}

func (t target) dial(b *testing.B) *benchClient {
	c, err := tls.Dial("tcp", t.addr, &tls.Config{InsecureSkipVerify: true})
	kit.Must(b, err)
	b.Cleanup(func() { c.Close() })
	return &benchClient{target: t, conn: c, from: bufio.NewReaderSize(c, 32<<10)}
}

var contentLength = []byte("Content-Length: ")

// exchange makes a request and reads the answer, which must be 200.
func (c *benchClient) exchange(b *testing.B) {
	io.WriteString(c.conn, c.ask(c.after))
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
	c.body = slices.Grow(c.body[:0], length)[:length]
	if _, err := io.ReadFull(c.from, c.body); err != nil {
		b.Error(err)
	}
	if c.walk {
		c.after = positionAfter(c.body)
	}
}

// positionAfter is the position that a page ends at, if more pages follow.
func positionAfter(page []byte) []byte {
	page, more := bytes.CutSuffix(page, []byte(`","hasMore":true}`))
	if !more {
		return nil
	}
	return page[bytes.LastIndexByte(page, '"')+1:]
}

// compare lets the clients of both servers ask in turns.
func compare(b *testing.B, clients int, ours, baseline target) {
	debug.SetGCPercent(400) // as the program does
	var rates [2]float64
	var took [2]time.Duration
	rounds := 0.0
	for b.Loop() {
		for i, t := range []target{ours, baseline} {
			before := processorTime(b)
			rates[i] += askFromOutside(b, t, clients)
			took[i] += processorTime(b) - before
		}
		rounds++
	}
	b.ReportMetric(rates[0]/rounds, "requests/s")
	b.ReportMetric(rates[1]/rounds, "baseline/s")
	b.ReportMetric(rates[0]/rates[1], "ratio")
	b.ReportMetric(float64(took[0].Microseconds())/rates[0]/askTime.Seconds(), "cpu-µs/request")
	b.ReportMetric(float64(took[1].Microseconds())/rates[1]/askTime.Seconds(), "baseline-cpu-µs/request")
	b.ReportMetric(0, "ns/op") // a round of both says nothing
}

// processorTime is what this process took of the processors so far: that of a
// request says more than the rate while others use the machine too.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	kit.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// The clients are a process of their own, as clients are: in the server's they
// would stand in its scheduler's queues. It is this test binary, told by the
// environment whom to ask.
const clientsVariable = "TEAMDATA_BENCH_CALLERS"

// askTime is how long the clients ask in one round.
const askTime = time.Second

func askFromOutside(b *testing.B, t target, clients int) (requestsPerSecond float64) {
	child := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", "^BenchmarkCallers$", "-test.benchtime", "1x")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %t %t\n%s", clientsVariable, t.addr, clients, t.key, t.walk, t.request))
	out, err := child.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	_, rest, _ := strings.Cut(string(out), "requests/s: ")
	if _, err := fmt.Sscan(rest, &requestsPerSecond); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return requestsPerSecond
}

// BenchmarkCallers is the process of askFromOutside.
func BenchmarkCallers(b *testing.B) {
	var t target
	var clients int
	head, request, told := strings.Cut(os.Getenv(clientsVariable), "\n")
	if !told {
		b.Skip("only for the other benchmarks")
	}
	if _, err := fmt.Sscan(head, &t.addr, &clients, &t.key, &t.walk); err != nil {
		b.Fatal(err)
	}
	t.request = request
	var connections []*benchClient
	for range clients {
		connections = append(connections, t.dial(b))
	}
	var asked atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for _, c := range connections {
		all.Go(func() {
			for time.Since(start) < askTime && !b.Failed() {
				c.exchange(b)
				asked.Add(1)
			}
		})
	}
	all.Wait()
	fmt.Printf("requests/s: %f\n", float64(asked.Load())/time.Since(start).Seconds())
}
