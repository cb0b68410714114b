package pull_test

import (
	"context"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// front stands between consumers and servers, and does to requests what networks do.
type front struct {
	url     string
	servers *atomic.Pointer[[]*program.Process]
	calm    atomic.Bool // nothing happens any more
	mu      sync.Mutex
	random  *rand.Rand
	count   map[string]int // of each fault
}

// The faults, each of which some requests in a hundred suffer.
const (
	refused = "refused" // it does not reach the server
	cut     = "cut"     // soon after it did, both ends are cut off
	lost    = "lost"    // it is executed, and the answer does not come
	half    = "half"    // it is executed, and half of the answer comes
)

func newFront(t *testing.T, random *rand.Rand, servers *atomic.Pointer[[]*program.Process]) *front {
	f := &front{servers: servers, random: random, count: map[string]int{}}
	quiet := log.New(io.Discard, "", 0)
	proxy := &httputil.ReverseProxy{
		ErrorLog:  quiet,
		Transport: through{f},
		Rewrite:   func(*httputil.ProxyRequest) {},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch fault, after := f.draw(); fault {
		case refused:
			panic(http.ErrAbortHandler)
		case cut:
			ctx, end := context.WithTimeout(q.Context(), after)
			defer end()
			proxy.ServeHTTP(httptest.NewRecorder(), q.WithContext(ctx))
			panic(http.ErrAbortHandler)
		case lost, half:
			answer := httptest.NewRecorder()
			proxy.ServeHTTP(answer, q)
			if fault == half {
				w.Header().Set("Content-Length", answer.Header().Get("Content-Length"))
				w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
				http.NewResponseController(w).Flush()
			}
			panic(http.ErrAbortHandler)
		default:
			proxy.ServeHTTP(w, q)
		}
	}))
	server.Config.ErrorLog = quiet
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		t.Logf("requests suffered %v", f.count)
	})
	f.url = server.URL
	return f
}

// draw draws what happens to a request, and after what time.
func (f *front) draw() (fault string, after time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	drawn := f.random.IntN(100)
	if all := []string{refused, cut, lost, half}; !f.calm.Load() && drawn < 2*len(all) {
		fault = all[drawn/2]
		f.count[fault]++
	}
	return fault, time.Duration(f.random.IntN(100)) * time.Millisecond
}

// through sends each request to one of the servers.
type through struct{ *front }

func (t through) RoundTrip(q *http.Request) (*http.Response, error) {
	servers := *t.servers.Load()
	t.mu.Lock()
	p := servers[t.random.IntN(len(servers))]
	t.mu.Unlock()
	target, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	q.URL.Scheme, q.URL.Host = target.Scheme, target.Host
	return p.Client.Transport.RoundTrip(q)
}

// behind makes consumers behind a front.
func behind(t *testing.T, f *front, n int) (all []*consumer) {
	for range n {
		c := newConsumer(t, f.url, "", 4)
		c.start()
		all = append(all, c)
	}
	return all
}

// killed kills consumers at random and starts them again, until stop, and at least so often.
func killed(t *testing.T, random *rand.Rand, consumers []*consumer, least int, stop <-chan struct{}) (kills int) {
	pause := 400 * time.Millisecond
	if kit.AtSize() {
		pause = 150 * time.Millisecond
	}
	for {
		ended := stop
		if kills < least {
			ended = nil
		}
		select {
		case <-ended:
			return kills
		case <-time.After(pause + time.Duration(random.Int64N(int64(pause)))):
			c := consumers[random.IntN(len(consumers))]
			c.process.Kill()
			c.start()
			kills++
		}
	}
}
