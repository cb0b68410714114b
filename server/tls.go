package server

import (
	"context"
	"crypto/tls"
	"os"
	"time"

	"teamdata/server/localca"
	"teamdata/store"
)

// Names under which the store keeps the local certificates.
const (
	localCAName   = "local-ca"
	localLeafName = "local-server"
)

// LocalTLS makes the TLS configuration of a server without a public name: its
// certificate for the hosts (DNS names and IP addresses) comes from an
// authority of its own. Both are kept in the store, and made when they are
// missing, no longer cover the hosts or are about to expire. caPEM is the
// authority's certificate, for clients to trust.
func LocalTLS(ctx context.Context, s store.Store, hosts []string, now time.Time) (config *tls.Config, caPEM []byte, err error) {
	var c localCertificates
	err = s.View(ctx, func(tx store.Tx) error { return c.load(tx) })
	if err == nil && !c.good(now, hosts) {
		err = s.Update(ctx, func(tx store.Tx) error { return c.complete(tx, now, hosts) })
	}
	if err != nil {
		return nil, nil, err
	}
	config = &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.leaf, nil },
	}
	return config, c.ca.CertificatePEM(), nil
}

type localCertificates struct {
	ca   *localca.CA     // nil: there is none yet
	leaf tls.Certificate // zero: there is none yet
}

// load reads what is kept, and leaves at zero what is not.
func (c *localCertificates) load(tx store.Certificates) error {
	text, err := tx.Certificate(localCAName)
	if err == nil {
		c.ca, err = localca.ParseCA(text)
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
	return c.ca != nil && c.ca.Good(c.leaf, now, hosts)
}

// complete makes a new leaf, and the authority too if there is none or it has
// expired.
func (c *localCertificates) complete(tx store.Certificates, now time.Time, hosts []string) error {
	if c.ca == nil || !now.Before(c.ca.NotAfter()) {
		machine, _ := os.Hostname() // part of a name for people: it may be empty
		ca, err := localca.NewCA(now, machine)
		if err != nil {
			return err
		}
		c.ca = ca
		if err := tx.PutCertificate(localCAName, ca.PEM()); err != nil {
			return err
		}
	}
	text, err := c.ca.Issue(now, hosts)
	if err != nil {
		return err
	}
	if c.leaf, err = localca.LoadLeaf(text); err != nil {
		return err
	}
	return tx.PutCertificate(localLeafName, text)
}
