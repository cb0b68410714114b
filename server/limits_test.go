package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/ratelimit"
	"teamdata/server/clientaddr"
	"teamdata/store"
)

// Of a key, the 100th request in a minute is accepted and the 101st is not,
// and the answers count down to that.
func TestKeyLimit(t *testing.T) {
	env := newTestEnv(t, Config{KeyRate: DefaultKeyRate})
	for left := 99; left >= 0; left-- {
		answer := env.do(newRequest("GET", "/api/v1/members", "key_read"))
		want := fmt.Sprintf(`"key";r=%d;t=60`, left)
		if got := header(answer, "RateLimit"); answer.Code != http.StatusOK || got[0] != want {
			t.Fatalf("got %d with %s, want %s", answer.Code, got, want)
		}
	}
	wantError(t, env.do(newRequest("GET", "/api/v1/members", "key_read")), store.CodeRateLimited)
	wantError(t, env.do(newRequest("HEAD", "/api/v1/assistant/instructions", "key_read")), store.CodeRateLimited)
}

// Retry-After is true to the second: a second earlier is too early.
func TestRetryAfter(t *testing.T) {
	for name, row := range map[string]struct {
		config Config
		path   string
	}{
		"key":    {Config{KeyRate: 2}, "/api/v1/members"},
		"client": {Config{ClientRate: 2}, "/api/v1/members"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newTestEnv(t, row.config)
			ask := func() (int, []string) {
				answer := env.do(newRequest("GET", row.path, "key_read"))
				return answer.Code, header(answer, "Retry-After")
			}
			ask()
			env.Advance(20*time.Second + time.Millisecond)
			ask()
			status, wait := ask()
			if status != http.StatusTooManyRequests || len(wait) != 1 || wait[0] != "40" {
				t.Fatalf("got %d, Retry-After %v", status, wait)
			}
			seconds, _ := strconv.Atoi(wait[0])
			env.Advance(time.Duration(seconds-1) * time.Second)
			if status, _ := ask(); status != http.StatusTooManyRequests {
				t.Errorf("a second early: %d", status)
			}
			env.Advance(time.Second)
			if status, wait := ask(); status != http.StatusOK || wait != nil {
				t.Errorf("after the wait: %d, Retry-After %v", status, wait)
			}
		})
	}
}

// Without a limit there are no refusals, and nothing is said about limits.
func TestNoLimits(t *testing.T) {
	env := newTestEnv(t, Config{})
	for range 700 {
		answer := env.do(newRequest("GET", "/api/v1/assistant/instructions", "key_read"))
		if answer.Code != http.StatusOK || header(answer, "RateLimit") != nil || header(answer, "RateLimit-Policy") != nil {
			t.Fatalf("got %d, %v", answer.Code, answer.Header())
		}
	}
}

// A client is an IPv4 address or an IPv6 /64, whatever its port.
func TestClients(t *testing.T) {
	env := newTestEnv(t, Config{ClientRate: 1})
	for _, row := range []struct {
		address string
		want    int
	}{
		{"192.0.2.1:1", http.StatusOK},
		{"192.0.2.1:2", http.StatusTooManyRequests},
		{"[::ffff:192.0.2.1]:1", http.StatusTooManyRequests},
		{"192.0.2.2:1", http.StatusOK},
		{"[2001:db8::1]:1", http.StatusOK},
		{"[2001:db8::ffff:0:0:2]:1", http.StatusTooManyRequests},
		{"[2001:db8:0:1::1]:1", http.StatusOK},
		{"@", http.StatusOK}, // a listener that is not of the internet
		{"", http.StatusTooManyRequests},
	} {
		if got := env.do(from(row.address, newRequest("GET", "/api/v1/members", "key_read"))).Code; got != row.want {
			t.Errorf("%s: got %d, want %d", row.address, got, row.want)
		}
	}
}

// An unknown route costs its client nothing: it is answered before the count.
func TestUnknownRoutesDontCount(t *testing.T) {
	env := newTestEnv(t, Config{ClientRate: 1})
	for range 5 {
		wantError(t, env.do(newRequest("GET", "/nothing", "")), store.CodeNotFound)
	}
	if got := env.do(newRequest("GET", "/api/v1/members", "key_read")).Code; got != http.StatusOK {
		t.Errorf("got %d", got)
	}
}

func mustParse(t testing.TB, list ...string) clientaddr.Proxies {
	t.Helper()
	proxies, err := clientaddr.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return proxies
}

// The limit of a client follows it through trusted proxies, and nothing that a
// direct client writes moves its own.
func TestClientsBehindProxies(t *testing.T) {
	env := newTestEnv(t, Config{ClientRate: 1, Proxies: mustParse(t, "private")})
	for i, row := range []struct {
		peer, name, value string
		want              int
	}{
		{"192.0.2.1:1", "", "", 200},
		{"192.0.2.1:1", "X-Forwarded-For", "203.0.113.1", 429},
		{"192.0.2.1:1", "Forwarded", "for=203.0.113.1", 429},
		{"10.0.0.1:1", "X-Forwarded-For", "203.0.113.1", 200},
		{"10.0.0.2:1", "Forwarded", `for="203.0.113.1:80"`, 429},
		{"10.0.0.1:1", "X-Forwarded-For", "198.51.100.1, 203.0.113.1", 429},
		{"10.0.0.1:1", "X-Forwarded-For", "203.0.113.2", 200},
		{"10.0.0.1:1", "X-Forwarded-For", "192.0.2.1", 429},
		{"10.0.0.1:1", "Forwarded", "for=unknown", 200}, // counted as the proxy
		{"10.0.0.1:1", "", "", 429},
		{"@", "X-Forwarded-For", "203.0.113.3", 200}, // by a Unix socket
		{"@", "X-Forwarded-For", "203.0.113.3", 429},
	} {
		r := newRequest("GET", "/api/v1/members", "key_read")
		if row.name != "" {
			r.Header.Set(row.name, row.value)
		}
		if got := env.do(from(row.peer, r)).Code; got != row.want {
			t.Errorf("%d: %s: got %d, want %d", i, fmt.Sprint(row), got, row.want)
		}
	}
}

// A request head that is too long, or that never ends, does not bind the server, and no
// flood of addresses exhausts its memory.
func TestServerBounds(t *testing.T) {
	srv := New(newTestEnv(t, Config{}).Store, Config{})
	h := &srv.http
	for what, figure := range map[string][2]any{
		"a head":                               {h.ReadHeaderTimeout, 10 * time.Second},
		"a request":                            {h.ReadTimeout, 30 * time.Second},
		"an answer":                            {h.WriteTimeout, time.Minute},
		"a connection that waits":              {idleTimeout, 2 * time.Minute},
		"an answer on HTTP/2 that isn't taken": {h.HTTP2.WriteByteTimeout, 10 * time.Second},
		"requests on a connection of HTTP/2":   {h.HTTP2.MaxConcurrentStreams, 32},
		"bytes of a head":                      {h.MaxHeaderBytes, 64 << 10},
		"answers of 503 while it stops":        {srv.drainDelay, 200 * time.Millisecond},
		"requests a minute with a key":         {DefaultKeyRate, 100},
		"requests a minute of a client":        {DefaultClientRate, 600},
		"how long who was cut off has no room": {cutPause, time.Second},
		"how long who was cut off is watched":  {watchedFor, time.Minute},
		"connections":                          {DefaultMaxConns, 10_000},
		"connections of a client":              {DefaultMaxClientConns, 256},
		"keys whose requests are counted":      {maxTrackedKeys, 100_000},
		"clients whose requests are counted":   {maxTrackedClients, 100_000},
	} {
		if figure[0] != figure[1] {
			t.Errorf("%s: %v, not %v", what, figure[0], figure[1])
		}
	}
}

// A proxy has 5 seconds for its header, and handshakes that a closed listener is left
// with have 2.
func TestPatienceWithPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		began := time.Now()
		_, err := throughProxy(server).Read(make([]byte, 1))
		if took := time.Since(began); err == nil || took != 5*time.Second {
			t.Errorf("the proxy's header: %v, after %s", err, took)
		}

		l := pipes{make(chan net.Conn), make(chan struct{})}
		shaking := newTLSListener(l, &tls.Config{}, "", &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)})
		ended := make(chan time.Time)
		go func() {
			shaking.run()
			ended <- time.Now()
		}()
		client, server = net.Pipe()
		defer client.Close()
		l.conns <- server
		began = time.Now()
		l.Close()
		if took := (<-ended).Sub(began); took != 2*time.Second {
			t.Errorf("the last handshakes had %s", took)
		}
	})
}

// Refusals are logged once a minute, with how many there were since the last line.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		l := newConnLimiter(Config{MaxConns: 1, Log: zerolog.New(&lines)})
		l.acquire(netip.Addr{})
		for _, pause := range []time.Duration{0, 0, time.Minute - 1, 1, 0} {
			time.Sleep(pause)
			l.acquire(netip.Addr{})
		}
		if got := regexp.MustCompile(`"refused":\d+`).FindAllString(lines.String(), -1); !slices.Equal(got, []string{`"refused":1`, `"refused":3`}) {
			t.Errorf("the log is %s", &lines)
		}
	})
}

// uncounted is a limiter whose database is away.
type uncounted struct{}

func (uncounted) Take(context.Context, string, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, store.Unavailable(errors.New("the database is away"))
}

// A request that can't be counted is not answered.
func TestUncountedRequest(t *testing.T) {
	env := newTestEnv(t, Config{KeyRate: DefaultKeyRate})
	env.server.keyLimit.Limiter = uncounted{}
	wantError(t, env.do(newRequest("GET", "/api/v1/members", "key_read")), store.CodeUnavailable)
}
