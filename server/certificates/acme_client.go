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
	maxDetail   = 500     // bytes of an authority's words
)

// newManager makes what gets a domain's certificate. One for each domain, so
// that what goes wrong is known to be about it.
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
			HTTPClient: &http.Client{Transport: witness{d}, Timeout: callTimeout},
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

// backoff is how long to wait before a call is made again, after the nth failure
// of it; 0 to give up. Of all answers 400 only a refused nonce leads here, and
// that came with a fresh one. Who asks too often (429) is not to ask again soon.
func backoff(n int, _ *http.Request, r *http.Response) time.Duration {
	switch {
	case n > maxRetries || r.StatusCode == http.StatusTooManyRequests:
		return 0
	case r.StatusCode == http.StatusBadRequest:
		return time.Millisecond
	}
	return time.Second << min(n-1, 3)
}

// witness sees each call to the authority. What goes wrong in a renewal is told
// to nobody else.
type witness struct{ domain *domain }

func (w witness) RoundTrip(q *http.Request) (*http.Response, error) {
	// autocert gives its calls no end but their timeout.
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

// problemIn returns what an answer says is wrong: the call, or the challenge or
// order that it shows.
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
