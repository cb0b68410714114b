package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/localca"
	"teamdata/store"
)

// Names under which the store keeps the local certificates.
const (
	localCAName   = "local-ca"
	localLeafName = "local-server"
)

// LocalConfig is what a Local is made from.
type LocalConfig struct {
	Hosts   []string                 // DNS names and IP addresses that the certificate is for
	Trusted func(caPEM []byte) error // is given the CAs for clients to trust, at the start and when they change; may be nil
	Log     zerolog.Logger
	Now     func() time.Time // nil: time.Now
}

// Local serves a certificate from an authority of its own. Both are kept in the
// store. The certificate is renewed a month before it expires. The authority gets a
// successor two years before it expires, or at once if it is not valid, and clients are
// given both from then on.
type Local struct {
	config  LocalConfig
	store   store.Store
	served  atomic.Pointer[localCertificates]
	trusted []byte // what Trusted was given last
	lastError
}

// localCertificates don't change once they are served.
type localCertificates struct {
	cas  localca.Authorities // empty: none yet
	leaf tls.Certificate     // zero: none yet
}

// NewLocal reads the certificates from the store, and replaces those that are
// missing, don't cover the hosts or are about to expire.
func NewLocal(ctx context.Context, s store.Store, c LocalConfig) (*Local, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &Local{config: c, store: s, lastError: lastError{log: c.Log, now: c.Now}}
	var kept localCertificates
	if err := s.View(ctx, func(tx store.Tx) error { return kept.load(tx) }); err != nil {
		return nil, err
	}
	l.served.Store(&kept)
	return l, l.refresh(ctx)
}

// TLS is the configuration to serve with.
func (l *Local) TLS() *tls.Config { return tlsConfig(l.get) }

func (l *Local) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &l.served.Load().leaf, nil
}

// Refresh renews the certificate, and the authority, when it is time.
func (l *Local) Refresh(ctx context.Context) {
	before := l.served.Load()
	if err := l.refresh(ctx); err == nil {
		l.reset()
	} else if ctx.Err() == nil {
		l.record(err, "the local certificate can't be renewed")
	}
	if now := l.served.Load(); now != before {
		l.log.Info().Time("notAfter", now.leaf.Leaf.NotAfter).Int("cas", len(now.cas)).Msg("the local CA has renewed the certificate")
	}
}

func (l *Local) refresh(ctx context.Context) error {
	now := l.config.Now()
	if !l.served.Load().good(now, l.config.Hosts) {
		machine, _ := os.Hostname() // part of a name for people: it may be empty
		var next localCertificates
		err := l.store.Update(ctx, store.All, func(tx store.Tx) (err error) {
			next, err = renew(tx, now, machine, l.config.Hosts)
			return err
		})
		if err != nil {
			return err
		}
		if before := l.served.Load().cas; len(before) > 0 && len(before.Valid(now)) == 0 {
			l.log.Warn().Time("clock", now).Time("notBefore", before[0].NotBefore()).Time("notAfter", before[0].NotAfter()).
				Msg("the local CA is not valid now, so a new one issued the certificate: give clients the CA file again, and check this machine's clock")
		}
		l.served.Store(&next)
	}
	return l.publish(l.served.Load().cas.CertificatePEM())
}

func (l *Local) publish(caPEM []byte) error {
	if l.config.Trusted == nil || bytes.Equal(l.trusted, caPEM) {
		return nil
	}
	if err := l.config.Trusted(caPEM); err != nil {
		return err
	}
	l.trusted = caPEM
	return nil
}

// Status describes the one certificate.
func (l *Local) Status() []store.CertificateStatus {
	status := l.status("local CA")
	status.NotAfter = l.served.Load().leaf.Leaf.NotAfter
	status.NextRenewal = status.NotAfter.Add(-localca.RenewBefore)
	return []store.CertificateStatus{status}
}

// load reads the certificates in the store; those that are not there stay zero.
func (c *localCertificates) load(tx store.Tx) error {
	text, err := tx.Certificate(localCAName)
	if err == nil {
		c.cas, err = localca.ParseAuthorities(text)
	}
	if err != nil {
		return unlessNotFound(err)
	}
	if text, err = tx.Certificate(localLeafName); err == nil {
		c.leaf, err = localca.LoadLeaf(text)
	}
	return unlessNotFound(err)
}

func unlessNotFound(err error) error {
	if store.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *localCertificates) good(now time.Time, hosts []string) bool {
	return len(c.cas) > 0 && !c.cas.Due(now) && c.cas.Issuer(now).Good(c.leaf, now, hosts)
}

// renew replaces what is due in the store, where another server may have done so
// meanwhile, and returns the certificates to serve from now on.
func renew(tx store.Tx, now time.Time, machine string, hosts []string) (c localCertificates, err error) {
	if err := c.load(tx); err != nil {
		return c, err
	}
	if c.cas.Due(now) {
		if c.cas, err = c.cas.Rotate(now, machine); err != nil {
			return c, err
		}
		if err := tx.PutCertificate(localCAName, c.cas.PEM()); err != nil {
			return c, err
		}
	}
	issuer := c.cas.Issuer(now)
	if issuer.Good(c.leaf, now, hosts) {
		return c, nil
	}
	text, err := issuer.Issue(now, hosts)
	if err != nil {
		return c, err
	}
	if c.leaf, err = localca.LoadLeaf(text); err != nil {
		return c, err
	}
	return c, tx.PutCertificate(localLeafName, text)
}
