package certificates

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
)

const (
	callTimeout = time.Minute
	maxAnswer   = 1 << 20            // bytes
	maxRetries  = 30                 // of one call
	maxDetail   = 500                // bytes of an authority's message
	maxPause    = 8 * time.Second    // before a call is made again; after a longer one the attempt is
	maxWait     = 7 * 24 * time.Hour // that an authority may ask for
)

// newClient makes the client of an attempt, and the transport of its calls.
func (a *ACME) newClient(d *domain) (*acme.Client, *loggingTransport) {
	calls := &loggingTransport{domain: d}
	return &acme.Client{
		Key: a.account, DirectoryURL: a.config.Directory, UserAgent: a.config.UserAgent, RetryBackoff: backoff,
		HTTPClient: &http.Client{Transport: calls, Timeout: callTimeout},
	}, calls
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
	wanted := retryAfter(r.Header)
	switch {
	case n > maxRetries || r.StatusCode == http.StatusTooManyRequests || wanted > maxPause:
		return 0
	case r.StatusCode == http.StatusBadRequest:
		return time.Millisecond
	}
	return max(time.Second<<min(n-1, 3), wanted)
}

// retryAfter is how long an answer asks to wait before the next call, from 0 to
// maxWait. A moment counts from that of the answer, so that our clock may be wrong.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if n, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(n, uint64(maxWait/time.Second))) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		sent = time.Now()
	}
	return min(max(until.Sub(sent), 0), maxWait)
}

var errMustWait = errors.New("the authority asked for a long pause")

// loggingTransport makes the calls of one attempt. It records their errors at once,
// since an attempt may take minutes, and with the authority's reason.
type loggingTransport struct {
	domain *domain // its mu guards the rest, since autocert cleans up beside the attempt

	answered bool          // the authority was reached
	issued   bool          // it gave a certificate
	wait     time.Duration // the longest that an answer asked for
	over     bool          // the attempt is
}

func (w *loggingTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	if w.mustWait() { // autocert goes on with another challenge
		return nil, errMustWait
	}
	// autocert's calls end with their timeout only; these end with our context too.
	ctx, cancel := context.WithCancel(q.Context())
	stop := context.AfterFunc(w.domain.acme.life, cancel)
	defer stop()
	defer cancel()
	r, err := w.domain.acme.http.RoundTrip(q.WithContext(ctx))
	if err != nil {
		w.failed(q, err)
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	r.Body.Close()
	if err != nil {
		w.failed(q, err)
		return nil, err
	}
	w.note(r)
	if err := problemIn(r.StatusCode, body); err != nil {
		w.failed(q, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, nil
}

func (w *loggingTransport) mustWait() bool {
	w.domain.mu.Lock()
	defer w.domain.mu.Unlock()
	return w.wait > maxPause
}

func (w *loggingTransport) note(r *http.Response) {
	w.domain.mu.Lock()
	defer w.domain.mu.Unlock()
	w.answered = true
	w.issued = w.issued || strings.HasPrefix(r.Header.Get("Content-Type"), "application/pem-certificate-chain")
	if r.StatusCode >= http.StatusBadRequest { // others ask for patience with what is under way
		w.wait = max(w.wait, retryAfter(r.Header))
	}
}

// failed records the error of a call that is needed for a certificate. Errors of the
// cleaning up that autocert does afterwards are ignored.
func (w *loggingTransport) failed(q *http.Request, err error) {
	d := w.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	if !w.over && d.acme.life.Err() == nil {
		d.record(fmt.Errorf("%s: %w", q.URL.Host, err), "getting a certificate from the authority failed")
	}
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
