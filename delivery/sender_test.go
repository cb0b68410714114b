package delivery

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/netguard"
	"teamdata/store"
)

func sendOnce(t *testing.T, url string, c Config) store.Attempt {
	t.Helper()
	c = c.withDefaults()
	e := store.Endpoint{URL: url, Secret: store.NewEndpointSecret()}
	a, _ := newSender(c).send(context.Background(), &e, &store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{}`)})
	return a
}

// Each failure is one attempt with its true reason, within the deadline.
func TestReasons(t *testing.T) {
	hang := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	closing := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	plain := httptest.NewServer(status(200))
	defer plain.Close()
	silent := kit.Loopback(t) // accepts, and never begins TLS
	guard := netguard.New(netguard.Config{})

	for name, test := range map[string]struct {
		url    string
		config Config
		want   string
	}{
		"timeout":          {hang.URL, Config{RootCAs: hang.roots(), AttemptTimeout: 100 * time.Millisecond}, "no answer within 100ms"},
		"hangs before TLS": {"https://" + silent.Addr().String(), Config{AttemptTimeout: 100 * time.Millisecond}, "no answer within 100ms"},
		"closed":           {closing.URL, Config{RootCAs: closing.roots()}, "was closed before an answer came"},
		"certificate":      {hang.URL, Config{}, "TLS: x509: certificate signed by unknown authority"},
		"not TLS":          {strings.Replace(plain.URL, "http:", "https:", 1), Config{}, "plain HTTP on this port"},
		"refused":          {"https://" + kit.Reserved(t), Config{}, "connection refused"},
		"DNS":              {"https://no-such-host.invalid/", Config{resolver: noNames()}, "DNS: no-such-host.invalid"},
		"address guard":    {hang.URL, Config{Control: guard.Control}, "refused: "},
		"status":           {newReceiver(t, status(410)).URL, Config{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := sendOnce(t, test.url, test.config)
			if a.Acknowledged() || !strings.Contains(a.Reason, test.want) {
				t.Errorf("reason %q does not contain %q", a.Reason, test.want)
			}
			if late := strings.HasPrefix(test.want, "no answer within"); a.TimedOut != late {
				t.Errorf("the deadline ended it: %t", a.TimedOut)
			}
			if a.StartedAt.IsZero() || a.EndedAt.Before(a.StartedAt) {
				t.Errorf("it ran from %s to %s", a.StartedAt, a.EndedAt)
			}
		})
	}
}

// Plain HTTP goes to this machine, where that is allowed, and nowhere else.
func TestPlainHTTP(t *testing.T) {
	r := httptest.NewServer(status(200))
	defer r.Close()
	_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
	guard := netguard.New(netguard.Config{})
	for name, test := range map[string]struct {
		url    string
		config Config
		want   string // the reason; empty: acknowledged
	}{
		"not allowed":              {r.URL, Config{}, errPlainHTTP.Error()},
		"an address":               {r.URL, Config{HTTPOnLoopback: true}, ""},
		"a name":                   {"http://localhost:" + port, Config{HTTPOnLoopback: true}, ""},
		"elsewhere":                {"http://192.0.2.1/", Config{HTTPOnLoopback: true}, errPlainHTTP.Error()},
		"a name of elsewhere":      {"http://there.example:" + port, Config{HTTPOnLoopback: true, resolver: newNames(t, map[string]string{"there.example": "192.0.2.1"}).resolver()}, errPlainHTTP.Error()},
		"the guard has a say, too": {r.URL, Config{HTTPOnLoopback: true, Control: guard.Control}, "refused: loopback range"},
	} {
		t.Run(name, func(t *testing.T) {
			a := sendOnce(t, test.url, test.config)
			if a.Acknowledged() != (test.want == "") || !strings.Contains(a.Reason, test.want) {
				t.Errorf("answered %d, %q", a.Status, a.Reason)
			}
		})
	}
}

// Connections over plain HTTP are closed with the others: a test that ends leaves none.
func TestPlainConnectionsEnd(t *testing.T) {
	closed := make(chan struct{}, 1)
	r := httptest.NewUnstartedServer(status(200))
	r.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	r.Start()
	defer r.Close()
	s := newSender(Config{HTTPOnLoopback: true}.withDefaults())
	e := store.Endpoint{URL: r.URL, Secret: store.NewEndpointSecret()}
	if a, _ := s.send(context.Background(), &e, &store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{}`)}); !a.Acknowledged() {
		t.Fatal(a.Reason)
	}
	s.disconnect()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the connection stays open")
	}
}

// Limits: 15 seconds to acknowledge; the schedule of retries has its own test.
func TestDefaultDeadline(t *testing.T) {
	if got := newSender(Config{}.withDefaults()).timeout; got != 15*time.Second {
		t.Errorf("an attempt may take %s", got)
	}
}

func TestAllowedAddressIsDialed(t *testing.T) {
	r := newReceiver(t, nil)
	guard := netguard.New(netguard.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if a := sendOnce(t, r.URL, Config{RootCAs: r.roots(), Control: guard.Control}); !a.Acknowledged() {
		t.Error(a.Reason)
	}
}

// The status line acknowledges, and an endless body doesn't spoil it.
func TestEndlessAnswer(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		io.Copy(w, endless{})
	})
	if a := sendOnce(t, r.URL, Config{RootCAs: r.roots()}); !a.Acknowledged() {
		t.Error(a.Reason)
	}
}

// The status line decides. A body that does not end has a second, and no longer than the
// deadline: others would wait for it.
func TestAnswerThatDoesNotEnd(t *testing.T) {
	const after = 14*time.Second + 500*time.Millisecond
	for name, test := range map[string]struct {
		speak  func(net.Conn)
		status int
		took   time.Duration
	}{
		"silence":             {afterRequest(says("HTTP/1.1 200 OK\r\n\r\nwell")), 200, time.Second},
		"less than promised":  {afterRequest(says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwell")), 200, time.Second},
		"no last chunk":       {afterRequest(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwell\r\n")), 200, time.Second},
		"a byte now and then": {trickle("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nwell", strings.Repeat("!", 996)), 200, time.Second},
		"a failure":           {afterRequest(says("HTTP/1.1 500 No\r\n\r\nwell")), 500, time.Second},
		"near the deadline":   {afterRequest(func(c net.Conn) { <-time.After(after); says("HTTP/1.1 200 OK\r\n\r\nwell")(c) }), 200, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := Config{}.withDefaults()
				s, network := newSender(c), newTransport(c, nil)
				network.DialTLSContext = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go test.speak(theirs)
					return ours, nil
				}
				s.network = network
				e := store.Endpoint{URL: "https://receiver.example/", Secret: store.NewEndpointSecret()}
				a, _ := s.send(t.Context(), &e, &store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{}`)})
				if a.Status != test.status || a.TimedOut || !strings.HasPrefix(string(a.Answer), "well") || a.Took() != test.took {
					t.Errorf("%d after %s, timed out: %t, answered %q; want %d after %s", a.Status, a.Took(), a.TimedOut, a.Answer, test.status, test.took)
				}
			})
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A reused connection that dies before a byte of answer is tried again at once
// on a new one, within the same attempt.
func TestDeadReusedConnection(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		if requests.Add(1) == 2 {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}
	}))
	server.StartTLS() // HTTP/1.1, so that a connection belongs to one request
	defer server.Close()
	r := receiver{Server: server}
	s := newSender(Config{RootCAs: r.roots()}.withDefaults())
	e := store.Endpoint{URL: server.URL, Secret: store.NewEndpointSecret()}
	for i := range 2 {
		a, _ := s.send(context.Background(), &e, &store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{}`)})
		if !a.Acknowledged() {
			t.Errorf("attempt %d: %s", i+1, a.Reason)
		}
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("the receiver saw %d requests, not 3", n)
	}
}

// Of an answer without end, little is read and less is kept, whichever part has no
// end.
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
			env := newEnv(t)
			env.run(Config{RootCAs: trusted().roots(), Schedule: []time.Duration{}})
			var written atomic.Int64
			w := newWire(t, secured(goodTLS(), afterRequest(func(c net.Conn) {
				n, _ := io.WriteString(c, test.begin)
				for err := error(nil); err == nil && n < gigabyte; {
					n, err = io.WriteString(c, test.piece)
					written.Add(int64(n))
				}
			})))
			before := heap()
			a := env.onlyAttempt(w.url(), test.want)
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

// BenchmarkSend is one attempt without the network: what the sender itself and
// net/http's client cost. BenchmarkSendFloor is a bare client's POST.
func BenchmarkSend(b *testing.B) {
	s := newSender(Config{}.withDefaults())
	s.network = atOnce{}
	e := store.Endpoint{URL: "https://receiver.example/hook", Secret: store.NewEndpointSecret()}
	c := store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{"type":"webhook.test"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if a, _ := s.send(context.Background(), &e, &c); !a.Acknowledged() {
			b.Fatal(a.Reason)
		}
	}
}

func BenchmarkSendFloor(b *testing.B) {
	client := http.Client{Transport: atOnce{}}
	b.ReportAllocs()
	for b.Loop() {
		r, err := client.Post("https://receiver.example/hook", "application/json", nil)
		kit.Must(b, err)
		r.Body.Close()
	}
}

// BenchmarkSendOverLoopback is one attempt over a connection that is kept.
func BenchmarkSendOverLoopback(b *testing.B) {
	r := newReceiver(b, nil)
	r.got = make(chan received, 1)
	go func() {
		for range r.got {
		}
	}()
	s := newSender(Config{RootCAs: r.roots()}.withDefaults())
	e := store.Endpoint{URL: r.URL, Secret: store.NewEndpointSecret()}
	c := store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{"type":"webhook.test"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if a, _ := s.send(context.Background(), &e, &c); !a.Acknowledged() {
			b.Fatal(a.Reason)
		}
	}
}

// atOnce answers 204 to everything.
type atOnce struct{}

func (atOnce) RoundTrip(q *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: q}, nil
}
