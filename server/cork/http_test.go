package cork

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit"
)

// counting counts the Writes of all connections it accepts.
type counting struct {
	net.Listener
	writes atomic.Int64
}

func (l *counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c, &l.writes}, nil
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

type connKey struct{}

var answer = bytes.Repeat([]byte("0123456789a"), 1024) // 11 KiB

// handler answers with the path and then 11 KiB, corked unless the query says
// otherwise.
func handler(w http.ResponseWriter, r *http.Request) {
	body := append([]byte(r.URL.Path), answer...)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.URL.RawQuery == "plain" {
		w.Write(body)
		return
	}
	c := r.Context().Value(connKey{}).(*Conn)
	c.Cork()
	w.Write(body)
	http.NewResponseController(w).Flush()
	if err := c.Uncork(); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// start runs a server on a corked listener on a counting one.
func start(t testing.TB, secure bool) (*httptest.Server, *counting) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(handler))
	count := &counting{Listener: s.Listener}
	s.Listener = Listener(count)
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		corked, _ := Beneath[*Conn](c)
		return context.WithValue(ctx, connKey{}, corked)
	}
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, count
}

func both(t *testing.T, test func(t *testing.T, s *httptest.Server, count *counting)) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			s, count := start(t, secure)
			test(t, s, count)
		})
	}
}

func get(t *testing.T, s *httptest.Server, path string) {
	t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Error(err)
		return
	}
	check(t, resp, strings.TrimSuffix(path, "?plain"))
}

func check(t *testing.T, resp *http.Response, path string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != path+string(answer) {
		t.Errorf("%s: %d bytes, %v", path, len(body), err)
	}
}

func TestOneWriteForAnAnswer(t *testing.T) {
	both(t, func(t *testing.T, s *httptest.Server, count *counting) {
		get(t, s, "/handshake")
		for i := range 100 {
			before := count.writes.Load()
			get(t, s, "/"+strconv.Itoa(i))
			if n := count.writes.Load() - before; n != 1 {
				t.Fatalf("answer %d took %d writes", i, n)
			}
		}
	})
}

// TestUncorkedTakesMore shows that there is something to gain.
func TestUncorkedTakesMore(t *testing.T) {
	both(t, func(t *testing.T, s *httptest.Server, count *counting) {
		get(t, s, "/handshake")
		before := count.writes.Load()
		get(t, s, "/uncorked?plain")
		n := count.writes.Load() - before
		t.Logf("%d writes", n)
		if n < 2 {
			t.Errorf("%d writes", n)
		}
	})
}

func TestManyClients(t *testing.T) {
	both(t, func(t *testing.T, s *httptest.Server, _ *counting) {
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for j := range 20 {
					get(t, s, "/"+strconv.Itoa(i)+"/"+strconv.Itoa(j)+[]string{"", "?plain"}[j%2])
				}
			})
		}
		wg.Wait()
	})
}

func TestPipelinedRequests(t *testing.T) {
	s, _ := start(t, false)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	kit.Must(t, err)
	defer c.Close()
	paths := []string{"/a", "/b?plain", "/c", "/d"}
	var requests strings.Builder
	for _, path := range paths {
		requests.WriteString("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	if _, err := io.WriteString(c, requests.String()); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for _, path := range paths {
		resp, err := http.ReadResponse(r, nil)
		kit.Must(t, err)
		check(t, resp, strings.TrimSuffix(path, "?plain"))
	}
}

func TestBeneath(t *testing.T) {
	if c, ok := Beneath[*Conn](new(recorder)); c != nil || ok {
		t.Errorf("%v from a connection that can't cork", c)
	}
}

// BenchmarkAnswer is one TLS client that asks again and again.
func BenchmarkAnswer(b *testing.B) {
	for name, path := range map[string]string{"corked": "/", "uncorked": "/?plain"} {
		b.Run(name, func(b *testing.B) {
			s, count := start(b, true)
			for b.Loop() {
				resp, err := s.Client().Get(s.URL + path)
				kit.Must(b, err)
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			b.ReportMetric(float64(count.writes.Load())/float64(b.N), "writes/op")
		})
	}
}
