// Package site is a server on this machine whose certificate is replaced while clients come,
// with the store that keeps it. It is for tests, and imports e2e/kit and store/boltstore.
package site

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/store/boltstore"
)

// Patience is how long tests wait for what should come soon.
const Patience = 30 * time.Second

// Site is the server, which answers once it has a certificate to serve with.
type Site struct {
	testing.TB
	Store *boltstore.Store
	Log   *kit.Output
	l     net.Listener
}

// New listens, and opens an empty store.
func New(t testing.TB) *Site {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	l := kit.ListenOn(t, kit.Reserved(t)) // ListenAgain does too
	t.Cleanup(func() { l.Close() })
	return &Site{TB: t, Store: s, Log: kit.NewOutput(), l: l}
}

// ListenAgain listens where it did before, as a restart does.
func (s *Site) ListenAgain() {
	s.Helper()
	s.l.Close()
	l := kit.ListenOn(s.TB, s.l.Addr().String())
	s.Cleanup(func() { l.Close() })
	s.l = l
}

// Logger writes to Log.
func (s *Site) Logger() zerolog.Logger { return zerolog.New(s.Log) }

// Address is where it listens.
func (s *Site) Address() string { return s.l.Addr().String() }

// Port is that of Address.
func (s *Site) Port() int { return s.l.Addr().(*net.TCPAddr).Port }

// Serve answers over TLS, and asks the configuration for certificates.
func (s *Site) Serve(config *tls.Config) {
	s.Helper()
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	h.Listener.Close()
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	config.NextProtos = append([]string{"h2", "http/1.1"}, config.NextProtos...)
	h.Listener = tls.NewListener(s.l, config)
	h.Start()
	s.Cleanup(h.Close)
}

// Get requests the page over a new connection, and returns the server's certificate.
func (s *Site) Get(name string, roots *x509.CertPool) (*x509.Certificate, error) {
	r, err := kit.ClientAt(s.Address(), roots).Get("https://" + name + "/")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return r.TLS.PeerCertificates[0], err
}

// MustGet is Get for a client that is to be served.
func (s *Site) MustGet(name string, roots *x509.CertPool) *x509.Certificate {
	s.Helper()
	c, err := s.Get(name, roots)
	if err != nil {
		s.Fatalf("%v\nthe log says:\n%s", err, s.Log)
	}
	return c
}

// Load makes requests from several goroutines until stop, which returns how many
// there were. None may fail.
func (s *Site) Load(name string, roots *x509.CertPool) (stop func() int) {
	var stopped atomic.Bool
	var count atomic.Int64
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for ; !stopped.Load(); count.Add(1) {
				if _, err := s.Get(name, roots); err != nil {
					s.Errorf("after %d requests: %v", count.Load(), err)
					return
				}
			}
		})
	}
	stop = func() int {
		stopped.Store(true)
		group.Wait()
		return int(count.Load())
	}
	s.Cleanup(func() { stop() })
	return stop
}

// Await returns when the log holds some words n times.
func (s *Site) Await(words string, n int) {
	s.Helper()
	if !kit.Until(Patience, func() bool { return strings.Count(s.Log.String(), words) >= n }) {
		s.Fatalf("%q did not come %d times; the log says:\n%s", words, n, s.Log)
	}
}
