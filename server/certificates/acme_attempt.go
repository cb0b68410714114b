package certificates

import (
	"context"
	"crypto/tls"
	"runtime"
	"sync/atomic"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// attempt is one at getting a domain's certificate. It has a manager of its own,
// which registers anew, since an authority may have forgotten our account, and has no
// memory of a failure. The manager sees the attempt as its cache, where challenges are
// kept in the store: the authority may ask any node.
type attempt struct {
	domain *domain
	client *acme.Client
	asked  atomic.Bool // the manager was, for a certificate
	text   []byte      // the new certificate, as PEM with its key
}

// certificate gets a new certificate, as PEM with its key.
func (t *attempt) certificate() ([]byte, error) {
	d := t.domain
	manager := &autocert.Manager{
		Prompt: func(terms string) bool {
			d.log.Info().Str("terms", terms).Msg("accepting the authority's terms, as --acme-accept-terms says")
			return true
		},
		Cache: t, Client: t.client, Email: d.acme.config.Email,
	}
	if d.acme.config.HTTP01 {
		manager.HTTPHandler(nil) // says that http-01 is possible
	}
	d.mu.Lock()
	d.manager = manager
	d.mu.Unlock()
	if seen := d.acme.config.Attempted; seen != nil {
		seen(manager)
	}
	// Said to accept ECDSA, as all clients do that can talk to us: for others it would
	// get an RSA certificate.
	_, err := manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName: d.name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	})
	return t.text, err
}

// Get has no certificate: the attempt is made because there is none, or it is due. A
// second call comes from the timer by which the manager would renew what it got. We
// renew by the wall clock, and the timer can't be stopped: its goroutine would call the
// authority, and set it again. So that goroutine ends here, and the manager with it.
func (t *attempt) Get(ctx context.Context, key string) ([]byte, error) {
	if key != t.domain.name {
		return t.domain.challengeKept(ctx, key)
	}
	if t.asked.Swap(true) {
		runtime.Goexit()
	}
	return nil, autocert.ErrCacheMiss
}

// Put takes the new certificate, or keeps the answer to a challenge.
func (t *attempt) Put(ctx context.Context, key string, text []byte) error {
	if key != t.domain.name {
		return t.domain.keepChallenge(ctx, key, text)
	}
	t.text = text
	return nil
}

// Delete has nothing to do: the next challenge replaces the last one.
func (t *attempt) Delete(context.Context, string) error { return nil }

// challenged answers the authority's challenges.
func (d *domain) challenged() *autocert.Manager {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.manager
}
