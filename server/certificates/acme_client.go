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
	callTimeout       = time.Minute
	maxAnswer         = 1 << 20            // bytes
	maxRetries        = 30                 // of one call
	maxRetriesOfFirst = 3                  // the same after an error of the server, while another authority is there to be asked
	maxDetail         = 500                // bytes of an authority's message
	maxPause          = 8 * time.Second    // before a call is made again; after a longer one the attempt is
	maxWait           = 7 * 24 * time.Hour // that an authority may ask for
)

// newClient makes the client of an attempt, and the transport of its calls, which go on
// until a time; zero: as long as they need.
func (a *ACME) newClient(d *domain, y *authority, until time.Time) (*acme.Client, *loggingTransport) {
	calls := &loggingTransport{domain: d, until: until}
	return &acme.Client{
		Key: y.account, DirectoryURL: y.directory, UserAgent: a.config.UserAgent, RetryBackoff: calls.backoff,
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
	domain *domain   // its mu guards the rest, since autocert cleans up beside the attempt
	until  time.Time // no call goes on after it, since another authority is there to be asked; zero: none

	answered bool          // the authority was reached
	issued   bool          // it gave a certificate
	unable   bool          // it is down, or limits us: that was the last error
	wait     time.Duration // the longest that an answer asked for
	over     bool          // the attempt is
}

func (w *loggingTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	if w.mustWait() { // autocert goes on with another challenge
		return nil, errMustWait
	}
	if err := onlyHTTPS(q, nil); err != nil { // where a directory leads, or a redirect
		w.failed(q, err, true)
		return nil, err
	}
	// autocert's calls end with their timeout only; these end with our context too.
	ctx, cancel := w.context(q.Context())
	stop := context.AfterFunc(w.domain.acme.life, cancel)
	defer stop()
	defer cancel()
	r, err := w.domain.acme.http.RoundTrip(q.WithContext(ctx))
	if err != nil {
		w.failed(q, err, true)
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	r.Body.Close()
	if err != nil {
		w.failed(q, err, true)
		return nil, err
	}
	w.note(r)
	if err := problemIn(r.StatusCode, body); err != nil {
		w.failed(q, err, err.unable)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, nil
}

func (w *loggingTransport) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.until.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, w.until, errSlow)
}

// backoff makes few calls again if another authority can be asked instead.
func (w *loggingTransport) backoff(n int, q *http.Request, r *http.Response) time.Duration {
	if !w.until.IsZero() && n > maxRetriesOfFirst && r.StatusCode >= http.StatusInternalServerError {
		return 0
	}
	return backoff(n, q, r)
}

// end tells whether the authority was unable to give a certificate, so that another one
// may. Errors of the cleaning up that follows are ignored.
func (w *loggingTransport) end() (unable bool) {
	w.domain.mu.Lock()
	defer w.domain.mu.Unlock()
	w.over = true
	return w.unable || !w.until.IsZero() && time.Now().After(w.until)
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
	switch wanted := retryAfter(r.Header); {
	case r.StatusCode >= http.StatusBadRequest: // others ask for patience with what is under way
		w.wait = max(w.wait, wanted)
	case wanted > maxPause && !w.until.IsZero():
		r.Header.Set("Retry-After", strconv.Itoa(int(maxPause/time.Second)))
	}
}

// failed records the error of a call that is needed for a certificate. Errors of the
// cleaning up that autocert does afterwards are ignored.
func (w *loggingTransport) failed(q *http.Request, err error, unable bool) {
	d := w.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	w.unable = unable
	if !w.over && d.acme.life.Err() == nil {
		d.record(fmt.Errorf("%s: %w", q.URL.Host, err), "getting a certificate from the authority failed")
	}
}

// problem is RFC 7807's, as an authority uses it.
type problem struct{ Type, Detail string }

func (p *problem) String() string {
	return fmt.Sprintf("%.*s (%.*s)", maxDetail, p.Detail, maxDetail, p.Type)
}

// isTheirs reports whether a problem is the authority's own, not one with the domain.
func (p *problem) isTheirs() bool {
	return strings.HasSuffix(p.Type, ":serverInternal") || strings.HasSuffix(p.Type, ":rateLimited")
}

// refusal is an error in an authority's answer.
type refusal struct {
	text   string
	unable bool // it is down, or limits us: another authority may give a certificate
}

func (r *refusal) Error() string { return r.text }

// problemIn returns the error that an answer reports: of the call itself, or of the
// challenge or order that the answer describes; nil if there is none.
func problemIn(status int, body []byte) *refusal {
	var answer struct {
		problem
		Error      *problem
		Challenges []struct {
			Type  string
			Error *problem
		}
	}
	err := json.Unmarshal(body, &answer)
	unable := status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || answer.isTheirs()
	switch {
	case strings.HasSuffix(answer.Type, ":badNonce"):
		return nil // the call is made again
	case status >= http.StatusBadRequest && (err != nil || answer.Detail == ""):
		return &refusal{fmt.Sprintf("answered %d %s", status, http.StatusText(status)), unable}
	case status >= http.StatusBadRequest:
		return &refusal{fmt.Sprintf("answered %d: %s", status, &answer.problem), unable}
	case err != nil:
		return nil // not JSON: a certificate
	}
	for _, c := range answer.Challenges {
		if c.Error != nil {
			return &refusal{fmt.Sprintf("challenge %s: %s", c.Type, c.Error), c.Error.isTheirs()}
		}
	}
	if answer.Error != nil {
		return &refusal{fmt.Sprintf("%s: %s", cmp.Or(answer.Type, "order"), answer.Error), answer.Error.isTheirs()}
	}
	return nil
}
