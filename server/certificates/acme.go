package certificates

import (
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/acme"

	"teamdata/store"
)

// LetsEncrypt is the directory of the authority that is asked by default.
const LetsEncrypt = acme.LetsEncryptURL

// ACMEConfig is what an ACME is made from. Its owner has accepted the terms of
// the authority.
type ACMEConfig struct {
	Domains   []string       // at least one, each as CheckDomain has it
	Directory string         // URL of the authority's directory; empty: LetsEncrypt
	RootCAs   *x509.CertPool // what the authority's own server is trusted by; nil: the system's
	Email     string         // where the authority may write to; empty: nowhere
	HTTP01    bool           // Challenges is served on port 80 of the domains
	Local     *Local         // serves clients on this machine that ask for no domain; nil: they are refused
	UserAgent string
	Log       zerolog.Logger
	Now       func() time.Time // the clock of retries; nil: time.Now

	renewBefore time.Duration   // 0: a third of the certificate's life, at most 30 days
	retries     []time.Duration // nil: firstRetries
}

// ACME serves a certificate for each of its domains, gets it from an authority,
// and renews it. Account and certificates are kept in the store: a restart asks
// nobody.
//
// Only its own timing makes it ask the authority, never a client. Who asks for
// another name than its domains is refused, unless it is a client on this
// machine, a health check for example: that gets the local certificate. To the
// world that one would tell the machine's name.
type ACME struct {
	config  ACMEConfig
	store   store.Store
	account crypto.Signer
	domains []*domain
	http    *http.Transport
	life    context.Context // ends every call to the authority
}

// NewACME reads the account from the store, or makes its key. Nobody is asked
// before the first Refresh, nor after ctx is done.
func NewACME(ctx context.Context, s store.Store, c ACMEConfig) (*ACME, error) {
	if c.Directory == "" {
		c.Directory = LetsEncrypt
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.retries == nil {
		c.retries = firstRetries
	}
	a := &ACME{config: c, store: s, http: newTransport(c.RootCAs), life: ctx}
	for _, name := range c.Domains {
		if a.domain(name) == nil { // a name given twice has one certificate
			a.domains = append(a.domains, newDomain(a, name))
		}
	}
	var err error
	a.account, err = accountKey(ctx, s, a.keptAs("account"))
	return a, err
}

// keptAs is the name in the store of what came from this authority. "account" is
// no domain, for it has no period.
func (a *ACME) keptAs(what string) string { return "acme " + a.config.Directory + " " + what }

// TLS is the configuration to serve with.
func (a *ACME) TLS() *tls.Config { return configured(a.get, acme.ALPNProto) }

func (a *ACME) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	challenge := slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto})
	switch d := a.domain(hello.ServerName); {
	case d != nil && challenge:
		return d.challengeCertificate(hello)
	case d != nil:
		return d.certificate(hello.Context())
	case a.config.Local != nil && !challenge && onThisMachine(hello.Conn):
		return a.config.Local.get(hello)
	}
	return nil, nil // the client is told that the name is unknown
}

func onThisMachine(c net.Conn) bool {
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

// Refresh starts to get the certificates that are still missing. Those that are
// there are renewed by themselves.
func (a *ACME) Refresh(ctx context.Context) {
	if a.config.Local != nil {
		a.config.Local.Refresh(ctx)
	}
	for _, d := range a.domains {
		if d.begin(a.config.Now()) {
			go d.try()
		}
	}
}

// Status tells about each domain, and about the local certificate if there is
// one.
func (a *ACME) Status() (all []Status) {
	for _, d := range a.domains {
		all = append(all, d.status())
	}
	if a.config.Local != nil {
		all = append(all, a.config.Local.Status()...)
	}
	return all
}
