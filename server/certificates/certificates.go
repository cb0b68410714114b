// Package certificates is where the server's certificate comes from: the local
// CA ([Local]), files of the operator's ([Files]), or an authority that speaks
// ACME ([ACME]). All three renew what they serve while it is served.
//
// It makes no call to anywhere unless ACME was asked for, and then only to that
// authority.
package certificates

import (
	"context"
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Source is where certificates come from. Refresh is for one goroutine, the rest
// is safe for concurrent use.
type Source interface {
	// TLS is the configuration to serve with. It stays good: the certificates
	// change below it.
	TLS() *tls.Config

	// Refresh renews what is due. What takes long goes on by itself until ctx is
	// done, and what goes wrong is in the log and the status.
	Refresh(ctx context.Context)

	// Status tells about each certificate.
	Status() []Status
}

// Status is how it is with one certificate.
type Status struct {
	Name        string    // a domain, "local CA", or the certificate's file
	NotAfter    time.Time // when it expires; zero: there is none yet
	NextRenewal time.Time // from when on it is renewed; zero: by somebody else, or there is none yet
	LastError   error     // what went wrong last; nil: the last try went well, or there was none
	LastErrorAt time.Time // when it did; zero like LastError
}

// lookEvery is how often a source looks for what is due.
const lookEvery = 10 * time.Second

// Keep refreshes a source now, every 10 s and at each signal, until ctx is done.
func Keep(ctx context.Context, s Source, signals <-chan os.Signal) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		s.Refresh(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-signals:
		}
	}
}

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

func configured(get getCertificate, protocols ...string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get, NextProtos: protocols}
}

// trouble is what went wrong last with a certificate.
type trouble struct {
	log zerolog.Logger
	now func() time.Time

	mu   sync.Mutex
	err  error
	at   time.Time
	said string // the error's text, which is logged once
}

// failed keeps an error, and logs it unless it is the one of the time before.
func (t *trouble) failed(err error, msg string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.at = err, t.now()
	if t.said != err.Error() {
		t.said = err.Error()
		t.log.Error().Err(err).Msg(msg)
	}
}

// failedIfSilent is failed, unless an error was logged since the last again.
func (t *trouble) failedIfSilent(err error, msg string) {
	t.mu.Lock()
	silent := t.said == ""
	t.mu.Unlock()
	if silent {
		t.failed(err, msg)
	}
}

// again lets the next error be logged, whatever it is.
func (t *trouble) again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = ""
}

func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.at, t.said = nil, time.Time{}, ""
}

func (t *trouble) last() (at time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at, t.err
}
