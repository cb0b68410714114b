package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/store/boltstore"
)

const patience = 30 * time.Second

// env is a server on this machine, and the store that keeps its certificate.
type env struct {
	testing.TB
	store *boltstore.Store
	log   *testLog
	l     net.Listener
}

func newEnv(t testing.TB) *env {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l, err := net.Listen("tcp", kit.Reserved(t)) // listenAgain does too
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &env{TB: t, store: s, log: &testLog{more: make(chan struct{})}, l: l}
}

func (s *env) logger() zerolog.Logger { return zerolog.New(s.log) }

func (s *env) port() int { return s.l.Addr().(*net.TCPAddr).Port }

// serve answers over TLS with a source's certificates.
func (s *env) serve(source Source) {
	s.Helper()
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	h.Listener.Close()
	h.Config.ErrorLog = quiet
	config := source.TLS()
	config.NextProtos = append([]string{"h2", "http/1.1"}, config.NextProtos...)
	h.Listener = tls.NewListener(s.l, config)
	h.Start()
	s.Cleanup(h.Close)
}

// run refreshes a source until the test ends or calls stop.
func (s *env) run(source Source) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { Run(ctx, source, nil) })
	stop = func() {
		cancel()
		running.Wait()
	}
	s.Cleanup(stop)
	return stop
}

// get requests the page over a new connection, and returns the server's certificate.
func (s *env) get(name string, roots *x509.CertPool) (*x509.Certificate, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", s.l.Addr().String())
		},
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}
	client := &http.Client{Transport: transport, Timeout: patience}
	r, err := client.Get("https://" + name + "/")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return r.TLS.PeerCertificates[0], err
}

func (s *env) mustGet(name string, roots *x509.CertPool) *x509.Certificate {
	s.Helper()
	c, err := s.get(name, roots)
	if err != nil {
		s.Fatalf("%v\nthe log says:\n%s", err, s.log)
	}
	return c
}

// load makes requests from several goroutines until stop, which returns how many
// there were. None may fail.
func (s *env) load(name string, roots *x509.CertPool) (stop func() int) {
	done := make(chan struct{})
	counts := make(chan int, 2)
	for range cap(counts) {
		go func() {
			n := 0
			defer func() { counts <- n }()
			for ; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if _, err := s.get(name, roots); err != nil {
					s.Errorf("request %d: %v", n, err)
					return
				}
			}
		}()
	}
	stop = sync.OnceValue(func() int {
		close(done)
		return <-counts + <-counts
	})
	s.Cleanup(func() { stop() })
	return stop
}

// testLog is a log that a test can wait for.
type testLog struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{} // closed when there is more
}

func (w *testLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.more)
	w.more = make(chan struct{})
	return w.b.Write(p)
}

func (w *testLog) String() string {
	text, _ := w.state()
	return text
}

func (w *testLog) state() (string, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String(), w.more
}

// await returns when the log holds some words n times.
func (s *env) await(words string, n int) {
	s.Helper()
	late := time.After(patience)
	for {
		text, more := s.log.state()
		if strings.Count(text, words) >= n {
			return
		}
		select {
		case <-more:
		case <-late:
			s.Fatalf("%q did not come %d times; the log says:\n%s", words, n, text)
		}
	}
}
