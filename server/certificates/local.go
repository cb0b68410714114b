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
	Trusted func(caPEM []byte) error // gets the CAs for clients to trust, at the start and when they change; nil: nobody
	Log     zerolog.Logger
	Now     func() time.Time // nil: time.Now
}

// Local serves a certificate of an authority of its own. Both are kept in the
// store. The certificate is renewed a month before it expires, and the
// authority is followed by another long before it does: for two years clients
// are given both.
type Local struct {
	config LocalConfig
	store  store.Store
	served atomic.Pointer[localCertificates]
	told   []byte // what Trusted got last
	trouble
}

// localCertificates don't change once they are served.
type localCertificates struct {
	cas  localca.Authorities // empty: there is none yet
	leaf tls.Certificate     // zero: there is none yet
}

// NewLocal reads the certificates from the store, and makes what is missing, no
// longer covers the hosts or is about to expire.
func NewLocal(ctx context.Context, s store.Store, c LocalConfig) (*Local, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &Local{config: c, store: s, trouble: trouble{log: c.Log, now: c.Now}}
	var kept localCertificates
	if err := s.View(ctx, func(tx store.Tx) error { return kept.load(tx) }); err != nil {
		return nil, err
	}
	l.served.Store(&kept)
	return l, l.refresh(ctx)
}

// TLS is the configuration to serve with.
func (l *Local) TLS() *tls.Config { return configured(l.get) }

func (l *Local) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &l.served.Load().leaf, nil
}

// Refresh renews the certificate, and the authority, when it is time.
func (l *Local) Refresh(ctx context.Context) {
	before := l.served.Load()
	if err := l.refresh(ctx); err == nil {
		l.over()
	} else if ctx.Err() == nil {
		l.failed(err, "the local certificate can't be renewed")
	}
	if now := l.served.Load(); now != before {
		l.log.Info().Time("notAfter", now.leaf.Leaf.NotAfter).Int("cas", len(now.cas)).Msg("the local CA has renewed the certificate")
	}
}

func (l *Local) refresh(ctx context.Context) error {
	now, served := l.config.Now(), l.served.Load()
	if !served.good(now, l.config.Hosts) {
		var next localCertificates
		err := l.store.Update(ctx, func(tx store.Tx) (err error) {
			next, err = served.renewed(tx, now, l.config.Hosts)
			return err
		})
		if err != nil {
			return err
		}
		l.served.Store(&next)
	}
	return l.tell(l.served.Load().cas.CertificatePEM())
}

func (l *Local) tell(caPEM []byte) error {
	if l.config.Trusted == nil || bytes.Equal(l.told, caPEM) {
		return nil
	}
	if err := l.config.Trusted(caPEM); err != nil {
		return err
	}
	l.told = caPEM
	return nil
}

// Status tells about the one certificate.
func (l *Local) Status() []Status {
	notAfter := l.served.Load().leaf.Leaf.NotAfter
	at, err := l.last()
	return []Status{{Name: "local CA", NotAfter: notAfter, NextRenewal: notAfter.Add(-localca.RenewBefore), LastError: err, LastErrorAt: at}}
}

// load reads what is kept, and leaves at zero what is not.
func (c *localCertificates) load(tx store.Certificates) error {
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

// renewed are the certificates to serve from now on, which tx keeps.
func (c *localCertificates) renewed(tx store.Certificates, now time.Time, hosts []string) (next localCertificates, err error) {
	if next = *c; next.cas.Due(now) {
		machine, _ := os.Hostname() // part of a name for people: it may be empty
		if next.cas, err = c.cas.Rotate(now, machine); err != nil {
			return next, err
		}
		if err := tx.PutCertificate(localCAName, next.cas.PEM()); err != nil {
			return next, err
		}
	}
	issuer := next.cas.Issuer(now)
	if issuer.Good(next.leaf, now, hosts) {
		return next, nil
	}
	text, err := issuer.Issue(now, hosts)
	if err == nil {
		next.leaf, err = localca.LoadLeaf(text)
	}
	if err != nil {
		return next, err
	}
	return next, tx.PutCertificate(localLeafName, text)
}
