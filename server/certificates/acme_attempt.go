package certificates

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"golang.org/x/crypto/acme"
)

// attemptTimeout bounds one attempt to get a certificate.
const attemptTimeout = 10 * time.Minute

// attempt is one at getting a domain's certificate.
type attempt struct {
	domain *domain
	client *acme.Client
}

// challengeAnswers is what proves to the authority that a name is ours.
type challengeAnswers struct {
	tls  *tls.Certificate // tls-alpn-01
	path string           // http-01: where its text is asked for
	text string
}

// certificate gets a new certificate, as PEM with its key.
func (t attempt) certificate(ctx context.Context) ([]byte, error) {
	if err := t.register(ctx); err != nil {
		return nil, err
	}
	order, err := t.order(ctx)
	if err != nil {
		return nil, err
	}
	text, err := newKey()
	if err != nil {
		return nil, err
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: t.domain.name}, DNSNames: []string{t.domain.name},
	}, key)
	if err != nil {
		return nil, err
	}
	chain, _, err := t.client.CreateCertFromOrder(ctx, order, request, true)
	for _, der := range chain {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text, err
}

// register finds our account by its key, or makes it. Each attempt does so: an
// authority may have forgotten the account since the last.
func (t attempt) register(ctx context.Context) error {
	account := &acme.Account{}
	if email := t.domain.acme.config.Email; email != "" {
		account.Contact = []string{"mailto:" + email}
	}
	_, err := t.client.Register(ctx, account, func(terms string) bool {
		t.domain.log.Info().Str("terms", terms).Msg("accepting the authority's terms, as --acme-accept-terms says")
		return true
	})
	if errors.Is(err, acme.ErrAccountAlreadyExists) {
		return nil
	}
	return err
}

// order places an order, and proves that the name is ours. Each kind of challenge
// has an order of its own, since a failed challenge spoils the order.
func (t attempt) order(ctx context.Context) (*acme.Order, error) {
	kinds := []string{"tls-alpn-01"}
	if t.domain.acme.config.HTTP01 {
		kinds = append(kinds, "http-01")
	}
	var refused error
	for _, kind := range kinds {
		order, err := t.client.AuthorizeOrder(ctx, acme.DomainIDs(t.domain.name))
		if err != nil {
			return nil, err
		}
		if refused = t.authorize(ctx, order.AuthzURLs, kind); refused == nil {
			return t.client.WaitOrder(ctx, order.URI)
		}
	}
	return nil, refused
}

func (t attempt) authorize(ctx context.Context, urls []string, kind string) error {
	defer t.domain.answerWith(challengeAnswers{})
	for _, url := range urls {
		authorization, err := t.client.GetAuthorization(ctx, url)
		if err != nil {
			return err
		}
		if authorization.Status != acme.StatusPending {
			continue // it is of an earlier order
		}
		if err := t.pass(ctx, authorization, kind); err != nil {
			return err
		}
	}
	return nil
}

// pass gets the authority to challenge us, and waits until it is content.
func (t attempt) pass(ctx context.Context, a *acme.Authorization, kind string) error {
	i := slices.IndexFunc(a.Challenges, func(c *acme.Challenge) bool { return c.Type == kind })
	if i < 0 {
		return fmt.Errorf("the authority offers no challenge %s", kind)
	}
	challenge := a.Challenges[i]
	answers, err := t.answers(challenge)
	if err != nil {
		return err
	}
	t.domain.answerWith(answers)
	if _, err = t.client.Accept(ctx, challenge); err != nil {
		return err
	}
	_, err = t.client.WaitAuthorization(ctx, a.URI)
	return err
}

func (t attempt) answers(c *acme.Challenge) (a challengeAnswers, err error) {
	if c.Type == "http-01" {
		a.path = t.client.HTTP01ChallengePath(c.Token)
		a.text, err = t.client.HTTP01ChallengeResponse(c.Token)
		return a, err
	}
	certificate, err := t.client.TLSALPN01ChallengeCert(c.Token, t.domain.name)
	a.tls = &certificate
	return a, err
}

func (d *domain) answerWith(a challengeAnswers) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers = a
}

func (d *domain) challengeAnswers() challengeAnswers {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers
}

// challengeCertificate answers the authority's challenge over TLS.
func (d *domain) challengeCertificate() (*tls.Certificate, error) {
	if c := d.challengeAnswers().tls; c != nil {
		return c, nil
	}
	return nil, errNotThere
}

// challenge answers the authority's challenge over plain HTTP.
func (d *domain) challenge(w http.ResponseWriter, r *http.Request) {
	a := d.challengeAnswers()
	if a.path == "" || r.URL.Path != a.path {
		http.NotFound(w, r)
		return
	}
	io.WriteString(w, a.text)
}
