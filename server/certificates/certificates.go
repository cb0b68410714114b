// Package certificates provides the server's certificate: from the local CA
// ([Local]), from the operator's files ([Files]), or from an authority that speaks
// ACME ([ACME]). All three renew the certificate while it is served.
//
// It makes no outbound call unless ACME is configured, and then only to those
// authorities.
//
// It may import store, internal/canonical and internal/localca. A new source of certificates is a file
// of its own that implements [Source]; code that all sources share belongs in
// certificates.go, and making a local certificate in internal/localca. Tests against an
// authority are in e2e/acme.
package certificates

import (
	"context"
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/hint"
	"teamdata/store"
)

// Source provides certificates. Refresh is for one goroutine, the rest is safe for
// concurrent use.
type Source interface {
	// TLS is the configuration to serve with. It stays valid when certificates
	// are renewed.
	TLS() *tls.Config

	// Refresh renews what is due. Work that takes long goes on in the background
	// until ctx is done; errors are in the log and the status.
	Refresh(ctx context.Context)

	// Status describes each certificate.
	Status() []store.CertificateStatus
}

// checkEvery is how often a source is refreshed.
const checkEvery = 10 * time.Second

// Run refreshes a source now, every 10 s and at each signal, until ctx is done.
func Run(ctx context.Context, s Source, signals <-chan os.Signal) {
	tick := time.NewTicker(checkEvery)
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

func tlsConfig(get getCertificate, protocols ...string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get, NextProtos: protocols}
}

// lastError is the latest error of a certificate.
type lastError struct {
	log zerolog.Logger
	now func() time.Time

	mu     sync.Mutex
	text   string // empty: none
	at     time.Time
	logged string // text of the error that was logged last
}

// record keeps an error, and logs it unless the same was logged before.
func (e *lastError) record(err error, msg string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text, e.at = err.Error(), e.now()
	if e.logged != e.text {
		e.logged = e.text
		e.log.Error().Fields(hint.Fields(err)).Msg(msg)
	}
}

// recordIfNone records an error, unless one was logged since the last logNext.
func (e *lastError) recordIfNone(err error, msg string) {
	e.mu.Lock()
	silent := e.logged == ""
	e.mu.Unlock()
	if silent {
		e.record(err, msg)
	}
}

// logNext lets the next error be logged, even if it is the same.
func (e *lastError) logNext() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.logged = ""
}

// reset forgets the error, after a success.
func (e *lastError) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text, e.at, e.logged = "", time.Time{}, ""
}

// status is the status of the certificate as far as the error goes.
func (e *lastError) status(name string) store.CertificateStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	return store.CertificateStatus{Name: name, LastError: e.text, LastErrorAt: e.at}
}
