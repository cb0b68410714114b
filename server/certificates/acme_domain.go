package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"teamdata/internal/hint"
	"teamdata/store"
)

// firstRetries say how long after each failed attempt to get a domain's first
// certificate the next is made; the last counts for every later one. Let's
// Encrypt allows five failures an hour.
var firstRetries = []time.Duration{2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// handshakeWait is how long a client waits for a certificate that is being issued.
const handshakeWait = 5 * time.Second

var errNotThere = errors.New("there is no certificate for this domain yet")

// domain is one name, with a certificate of its own.
type domain struct {
	name string
	acme *ACME
	lastError
	asking atomic.Bool // from a Get of the cache until the Put of a new certificate

	mu      sync.Mutex
	manager *autocert.Manager // of the last attempt; nil: there was none
	http    http.Handler      // answers the challenges of http-01; nil: there are none
	served  *autocert.Manager // has a certificate, and renews it; nil: there is none yet
	running bool              // an attempt is
	tried   chan struct{}     // closed when the attempt ends that runs or is about to; nil: the next is later
	tries   int
	next    time.Time // of the next attempt
}

func newDomain(a *ACME, name string) *domain {
	log := a.config.Log.With().Str("domain", name).Logger()
	return &domain{name: name, acme: a, lastError: lastError{log: log, now: a.config.Now}, tried: make(chan struct{})}
}

var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckDomain returns an error unless a certificate can be had for the name.
func CheckDomain(name string) error {
	if len(name) > 253 || !domainName.MatchString(name) {
		return hint.New(fmt.Sprintf("%q is no domain to get a certificate for", name), "write it in full and in small letters, without port or *, such as data.example.com (an international one as xn--…)")
	}
	return nil
}

// begin tells whether to ask for the first certificate now, and prepares that.
func (d *domain) begin(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.served != nil || d.running || now.Before(d.next) || d.acme.life.Err() != nil {
		return false
	}
	if d.tried == nil {
		d.tried = make(chan struct{})
	}
	// A manager that failed doesn't try again for a minute, so each attempt has its
	// own.
	d.manager, d.running = d.acme.newManager(d), true
	if d.acme.config.HTTP01 {
		d.http = d.manager.HTTPHandler(nil)
	}
	return true
}

// try takes the certificate from the store, or gets it from the authority.
func (d *domain) try() {
	_, err := d.manager.GetCertificate(d.hello())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = false
	close(d.tried)
	d.tried = nil
	if err == nil {
		d.served = d.manager
		return
	}
	pause := d.acme.config.retries[min(d.tries, len(d.acme.config.retries)-1)]
	d.tries++
	d.next = d.acme.config.Now().Add(pause)
	if d.acme.life.Err() == nil {
		d.recordIfNone(err, "the authority gave no certificate")
		d.log.Warn().Time("nextTry", d.next).Msg("there is no certificate for this domain yet: its clients are refused")
	}
}

// hello describes a client that accepts an ECDSA certificate, as all clients do that
// can talk to us. For others the managers would get a second certificate.
func (d *domain) hello() *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: d.name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// certificate returns the one to serve. It may wait for an attempt that runs, but
// never starts one.
func (d *domain) certificate(ctx context.Context) (*tls.Certificate, error) {
	served, tried := d.state()
	if served == nil && tried != nil {
		ctx, cancel := context.WithTimeout(ctx, handshakeWait)
		defer cancel()
		select {
		case <-tried:
		case <-ctx.Done():
		}
		served, _ = d.state()
	}
	if served == nil {
		return nil, errNotThere
	}
	return served.GetCertificate(d.hello())
}

func (d *domain) state() (served *autocert.Manager, tried <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.served, d.tried
}

// challengeCertificate answers the authority's challenge (tls-alpn-01).
func (d *domain) challengeCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	d.mu.Lock()
	manager := d.manager
	d.mu.Unlock()
	if manager == nil {
		return nil, errNotThere
	}
	return manager.GetCertificate(hello)
}

func (d *domain) status() store.CertificateStatus {
	status := d.lastError.status(d.name)
	if served, _ := d.state(); served != nil {
		if c, err := served.GetCertificate(d.hello()); err == nil {
			status.NotAfter = c.Leaf.NotAfter
			status.NextRenewal = c.Leaf.NotAfter.Add(-d.renewBefore(c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)))
		}
	}
	return status
}

// renewBefore is how long before its end autocert renews a certificate of a
// lifetime.
func (d *domain) renewBefore(life time.Duration) time.Duration {
	if d.acme.config.renewBefore > 0 {
		return d.acme.config.renewBefore
	}
	return min(life/3, 30*24*time.Hour)
}
