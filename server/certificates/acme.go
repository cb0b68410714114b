package certificates

import (
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"teamdata/store"
)

// LetsEncrypt is the directory of the default authority.
const LetsEncrypt = acme.LetsEncryptURL

// ACMEConfig is what an ACME is made from. Its owner has accepted the terms of
// the authorities.
type ACMEConfig struct {
	Domains     []string       // at least one, each as CheckDomain has it
	Directories []string       // URLs of the authorities' directories, in the order in which they are asked; empty: LetsEncrypt
	RootCAs     *x509.CertPool // verify the authorities' own servers; nil: the system's
	Email       string         // contact for the authorities; empty: none
	HTTP01      bool           // Challenges is served on port 80 of the domains
	Local       *Local         // serves clients on this machine that name none of the domains; nil: they are refused
	UserAgent   string
	Log         zerolog.Logger
	Now         func() time.Time // the clock of renewals and retries; nil: time.Now

	Attempted func(*autocert.Manager) // sees the manager of each attempt before it is asked, to test what becomes of it; nil: nobody does
}

// ACME serves a certificate for each of its domains, gets it from the first authority
// that can give one, and renews it when that suggests. Accounts and certificates are
// kept in the store, so that a restart orders nothing.
//
// Calls to an authority are made by its own timing alone, never because of a
// client. A request for any other name is refused, unless it comes from this
// machine, as health checks do: those get the local certificate. Other clients
// don't, since it contains the machine's name.
type ACME struct {
	config      ACMEConfig
	store       store.Store
	authorities []*authority // at least one
	domains     []*domain
	http        *http.Transport
	work        sync.WaitGroup  // what Refresh started
	life        context.Context // ends every call to an authority
}

// authority issues certificates. Each knows us by an account of its own.
type authority struct {
	directory string // its URL
	account   crypto.Signer
}

// storeName is the name under which the store keeps something from this authority:
// a domain's certificate, or the "account", which is no domain since it has no
// period.
func (y *authority) storeName(what string) string { return "acme " + y.directory + " " + what }

// NewACME reads the certificates and the accounts from the store, or makes the
// accounts' keys. No call is made before the first Refresh, nor after ctx is done.
func NewACME(ctx context.Context, s store.Store, c ACMEConfig) (*ACME, error) {
	if len(c.Directories) == 0 {
		c.Directories = []string{LetsEncrypt}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &ACME{config: c, store: s, http: newTransport(c.RootCAs), life: ctx}
	for _, directory := range c.Directories {
		y := &authority{directory: directory}
		var err error
		if y.account, err = accountKey(ctx, s, y.storeName("account")); err != nil {
			return nil, err
		}
		a.authorities = append(a.authorities, y)
	}
	for _, name := range c.Domains {
		if a.domain(name) == nil { // a name given twice has one certificate
			a.domains = append(a.domains, newDomain(a, name))
		}
	}
	for _, d := range a.domains {
		if err := d.load(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// TLS is the configuration to serve with.
func (a *ACME) TLS() *tls.Config { return tlsConfig(a.get, acme.ALPNProto) }

func (a *ACME) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	challenge := slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto})
	switch d := a.domain(hello.ServerName); {
	case d != nil && challenge:
		return d.challenged().GetCertificate(hello)
	case d != nil:
		return d.certificate(hello.Context())
	case a.config.Local != nil && !challenge && isLocal(hello.Conn):
		return a.config.Local.get(hello)
	}
	return nil, nil // the handshake fails with "unrecognized name"
}

func isLocal(c net.Conn) bool {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// domain finds the domain of a name; nil when it is not one of ours.
func (a *ACME) domain(name string) *domain {
	for _, d := range a.domains {
		if strings.EqualFold(d.name, name) {
			return d
		}
	}
	return nil
}

// Refresh starts to get the certificates that are missing or due for renewal, and to
// ask when the others are to be renewed.
func (a *ACME) Refresh(ctx context.Context) {
	if a.config.Local != nil {
		a.config.Local.Refresh(ctx)
	}
	for _, d := range a.domains {
		now := a.config.Now()
		if d.begin(now) {
			a.work.Go(d.try)
		} else if c, by := d.beginAsking(now); c != nil {
			a.work.Go(func() { d.ask(c, by) })
		}
	}
}

// Wait returns when nothing runs any more of what Refresh started: neither an attempt nor a
// question. It is not for use beside Refresh.
func (a *ACME) Wait() { a.work.Wait() }

// Status describes each domain's certificate, and the local one if there is one.
func (a *ACME) Status() (all []store.CertificateStatus) {
	for _, d := range a.domains {
		all = append(all, d.status())
	}
	if a.config.Local != nil {
		all = append(all, a.config.Local.Status()...)
	}
	return all
}

const challengePath = "/.well-known/acme-challenge/"

// Challenges serves plain HTTP: it answers the authority's challenges (http-01), and
// redirects all other requests to the same path over HTTPS.
func (a *ACME) Challenges() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := a.domain((&url.URL{Host: r.Host}).Hostname())
		if !strings.HasPrefix(r.URL.Path, challengePath) {
			if d == nil {
				d = a.domains[0] // a client never chooses where it is redirected
			}
			to := url.URL{Scheme: "https", Host: d.name, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
			return
		}
		if d == nil {
			http.NotFound(w, r)
			return
		}
		d.challenged().HTTPHandler(nil).ServeHTTP(w, r)
	})
}
