package certificates

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

const (
	callTimeout = time.Minute
	maxAnswer   = 1 << 20 // bytes
	maxRetries  = 30      // of one call
	maxDetail   = 500     // bytes of an authority's message
)

// newManager makes the client that gets a domain's certificate. Each domain has its
// own, so that an error is known to belong to the domain.
func (a *ACME) newManager(d *domain) *autocert.Manager {
	return &autocert.Manager{
		Prompt: func(terms string) bool {
			d.log.Info().Str("terms", terms).Msg("accepting the authority's terms, as --acme-accept-terms says")
			return true
		},
		HostPolicy:  autocert.HostWhitelist(d.name),
		Cache:       cache{d},
		RenewBefore: a.config.renewBefore,
		Email:       a.config.Email,
		Client: &acme.Client{
			Key: a.account, DirectoryURL: a.config.Directory, UserAgent: a.config.UserAgent, RetryBackoff: backoff,
			HTTPClient: &http.Client{Transport: loggingTransport{d}, Timeout: callTimeout},
		},
	}
}

func newTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
}

// backoff is how long to wait before a call is made again after its nth failure; 0
// means to give up. It is called for a 400 only when that refused a nonce, and such
// an answer brings a fresh one. After a 429 the call must not be repeated soon.
func backoff(n int, _ *http.Request, r *http.Response) time.Duration {
	switch {
	case n > maxRetries || r.StatusCode == http.StatusTooManyRequests:
		return 0
	case r.StatusCode == http.StatusBadRequest:
		return time.Millisecond
	}
	return time.Second << min(n-1, 3)
}

// loggingTransport makes the calls to the authority, and records their errors:
// autocert reports the errors of a renewal nowhere else.
type loggingTransport struct{ domain *domain }

func (w loggingTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	// autocert's calls end with their timeout only; these end with our context too.
	ctx, cancel := context.WithCancel(q.Context())
	stop := context.AfterFunc(w.domain.acme.life, cancel)
	defer stop()
	defer cancel()
	r, err := w.domain.acme.http.RoundTrip(q.WithContext(ctx))
	if err != nil {
		w.domain.callFailed(fmt.Errorf("%s: %w", q.URL.Host, err))
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	r.Body.Close()
	if err != nil {
		w.domain.callFailed(fmt.Errorf("%s: %w", q.URL.Host, err))
		return nil, err
	}
	if err := problemIn(r.StatusCode, body); err != nil {
		w.domain.callFailed(fmt.Errorf("%s: %w", q.URL.Host, err))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, nil
}

// problem is RFC 7807's, as an authority uses it.
type problem struct{ Type, Detail string }

func (p *problem) String() string {
	return fmt.Sprintf("%.*s (%.*s)", maxDetail, p.Detail, maxDetail, p.Type)
}

// problemIn returns the error that an answer reports: of the call itself, or of the
// challenge or order that the answer describes.
func problemIn(status int, body []byte) error {
	var answer struct {
		problem
		Error      *problem
		Challenges []struct {
			Type  string
			Error *problem
		}
	}
	err := json.Unmarshal(body, &answer)
	switch {
	case strings.HasSuffix(answer.Type, ":badNonce"):
		return nil // the call is made again
	case status >= http.StatusBadRequest && (err != nil || answer.Detail == ""):
		return fmt.Errorf("answered %d %s", status, http.StatusText(status))
	case status >= http.StatusBadRequest:
		return fmt.Errorf("answered %d: %s", status, &answer.problem)
	case err != nil:
		return nil // not JSON: a certificate
	}
	for _, c := range answer.Challenges {
		if c.Error != nil {
			return fmt.Errorf("challenge %s: %s", c.Type, c.Error)
		}
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %s", cmp.Or(answer.Type, "order"), answer.Error)
	}
	return nil
}
