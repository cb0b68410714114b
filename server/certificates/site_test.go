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

	"teamdata/store/boltstore"
)

const patience = 30 * time.Second

// site is a server on this machine, and what its certificate is kept in.
type site struct {
	testing.TB
	store *boltstore.Store
	log   *watchedLog
	l     net.Listener
}

func newSite(t testing.TB) *site {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &site{TB: t, store: s, log: &watchedLog{more: make(chan struct{})}, l: l}
}

func (s *site) logger() zerolog.Logger { return zerolog.New(s.log) }

func (s *site) port() int { return s.l.Addr().(*net.TCPAddr).Port }

// serve answers over TLS with a source's certificates.
func (s *site) serve(source Source) {
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

// keep refreshes a source until the test ends, or it is told to stop.
func (s *site) keep(source Source) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var kept sync.WaitGroup
	kept.Go(func() { Keep(ctx, source, nil) })
	stop = func() {
		cancel()
		kept.Wait()
	}
	s.Cleanup(stop)
	return stop
}

// get asks for the page as a client that has no connection yet, and returns the
// certificate that it was shown.
func (s *site) get(name string, roots *x509.CertPool) (*x509.Certificate, error) {
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

func (s *site) mustGet(name string, roots *x509.CertPool) *x509.Certificate {
	s.Helper()
	c, err := s.get(name, roots)
	if err != nil {
		s.Fatalf("%v\nthe log says:\n%s", err, s.log)
	}
	return c
}

// load asks from several sides until it is told to stop, and returns how many
// requests there were. None may fail.
func (s *site) load(name string, roots *x509.CertPool) (stop func() int) {
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

// watchedLog is a log that a test can wait for.
type watchedLog struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{} // closed when there is more
}

func (w *watchedLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.more)
	w.more = make(chan struct{})
	return w.b.Write(p)
}

func (w *watchedLog) String() string {
	text, _ := w.state()
	return text
}

func (w *watchedLog) state() (string, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String(), w.more
}

// await returns when the log holds some words n times.
func (s *site) await(words string, n int) {
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
