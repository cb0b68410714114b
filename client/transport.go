package teamdata

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

const (
	defaultRetries = 4
	defaultTimeout = time.Minute
	firstWait      = 500 * time.Millisecond // before the first retry; twice as long before each further one
	longestWait    = time.Minute            // the server's limits are by the minute
	maxAnswer      = 16 << 20               // bytes
)

// userAgent says which release of the client sends a request.
const userAgent = "teamdata-go/1.0.0"

// Config says which server a client uses, with which key, and how it retries.
type Config struct {
	// BaseURL is where the server is, such as https://data.example.com.
	BaseURL string
	// Key is an API key; for the admin API it is an operator token.
	Key string
	// HTTP sends the requests; nil is http.DefaultClient. [TrustCA] makes one for a
	// server that has its own CA. A redirect is not followed, and is an [*Error]: it
	// could lead the key elsewhere, or over plain HTTP.
	HTTP *http.Client

	// Retries is how often a request is sent again; 0 is 4 times, -1 is never.
	//
	// A request is sent again if it got no answer, or was answered with 429 or a
	// status of 500 and above: after the server's Retry-After, or without one after
	// 0.5 s, 1 s, 2 s and so on, shortened at random by up to a half. A Retry-After of
	// more than a minute ends the retries. If the context would end while it waits,
	// the error is returned at once.
	//
	// All attempts of a POST carry one Idempotency-Key, so it is executed once. PUT,
	// PATCH and DELETE can be repeated as they are; a DELETE whose first answer was
	// lost ends in a [CodeNotFound].
	Retries int
	// Retrying is called before a request is sent again, with the error of the attempt
	// before and how long the client will wait. If it returns false, the call
	// returns that error. nil allows every retry.
	Retrying func(err error, wait time.Duration) bool
	// Timeout ends an attempt that takes longer; 0 is a minute.
	Timeout time.Duration
}

// TrustCA makes an HTTP client that trusts the CA in a file, such as the one that a
// server without a certificate of its own writes beside its data file.
func TrustCA(file string) (*http.Client, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s contains no PEM certificate", file)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	return &http.Client{Transport: transport}, nil
}

// Transport sends the requests of a [Client], or of one of package admin. Use it by
// way of [Call] and [NewList] for an operation that a client does not have yet.
type Transport struct {
	wrong    error // about the settings
	http     *http.Client
	base     string
	header   http.Header
	retries  int
	retrying func(error, time.Duration) bool
	timeout  time.Duration
}

// NewTransport makes a transport for the API that is served below a path; the
// header is sent with each request, and may have a User-Agent of its own. An error in
// the config is returned by each call.
func NewTransport(config Config, path string, header http.Header) *Transport {
	sends := *cmp.Or(config.HTTP, http.DefaultClient)
	sends.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t := &Transport{http: &sends, base: strings.TrimRight(config.BaseURL, "/") + path, header: header.Clone(), retries: config.Retries, retrying: config.Retrying, timeout: config.Timeout}
	if t.retries == 0 {
		t.retries = defaultRetries
	}
	if t.timeout <= 0 {
		t.timeout = defaultTimeout
	}
	if t.header == nil {
		t.header = http.Header{}
	}
	if t.header.Get("User-Agent") == "" {
		t.header.Set("User-Agent", userAgent)
	}
	if t.retrying == nil {
		t.retrying = func(error, time.Duration) bool { return true }
	}
	if base, err := url.Parse(config.BaseURL); err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		t.wrong = fmt.Errorf("BaseURL is %q; it must be a URL such as https://data.example.com", config.BaseURL)
	}
	key := strings.TrimSpace(config.Key)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		t.wrong = errors.New("the key is malformed: it must be <id>.<secret>")
	} else if key != "" {
		t.header.Set("Authorization", "Bearer "+key)
	}
	return t
}

// Option changes a single call.
type Option func(*call)

// call is one request, however often it is sent.
type call struct {
	method, path string
	header       http.Header
	body         []byte
	into         *http.Header

	sent, answered atomic.Int32 // attempts; net/http itself makes one again now and then
}

// IdempotencyKey sets the key of a POST. For 24 hours, only the first POST with a key is
// executed. Without this option each call has a key of its
// own. A key has 1 to 255 printable ASCII characters; with an empty one the request has
// none, and is not sent again once it may have been executed.
func IdempotencyKey(key string) Option { return SetHeader("Idempotency-Key", key) }

// SetHeader sets a header of the request.
func SetHeader(name, value string) Option {
	return func(c *call) { c.header.Set(name, value) }
}

// ResponseHeader stores the header of the answer, which has Idempotent-Replayed,
// RateLimit and X-Request-Id among others. It is that of the last attempt.
func ResponseHeader(into *http.Header) Option {
	return func(c *call) { c.into = into }
}

// Call makes a request, and returns its answer. A body that is not nil is sent as
// JSON. An answer that is not a success is an [*Error].
func Call[T any](ctx context.Context, t *Transport, method, path string, body any, options []Option) (answer T, err error) {
	c, err := t.call(method, path, body, options)
	if err != nil {
		return answer, err
	}
	content, err := t.send(ctx, c)
	if err != nil {
		return answer, err
	}
	switch any(answer).(type) {
	case struct{}, json.RawMessage:
		if len(content) == 0 {
			return answer, nil
		}
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return answer, fmt.Errorf("%s %s: the answer is not as expected: %w", method, path, err)
	}
	return answer, nil
}

// Open makes a request once, and returns its answer for reading. The caller closes
// the body.
func (t *Transport) Open(ctx context.Context, method, path string, options ...Option) (*http.Response, error) {
	c, err := t.call(method, path, nil, options)
	if err != nil {
		return nil, err
	}
	return t.open(ctx, c)
}

func (t *Transport) call(method, path string, body any, options []Option) (*call, error) {
	if t.wrong != nil {
		return nil, t.wrong
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	c := &call{method: method, path: path, header: t.header.Clone()}
	if method == http.MethodPost {
		c.header.Set("Idempotency-Key", rand.Text())
	}
	if body != nil {
		content, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		c.body = content
		c.header.Set("Content-Type", "application/json")
	}
	for _, option := range options {
		option(c)
	}
	if c.header.Get("Idempotency-Key") == "" {
		c.header.Del("Idempotency-Key")
	}
	return c, nil
}

// checkPath refuses ids that a URL drops, in a proxy at the latest: the rest would name
// something else, such as the whole org.
func checkPath(path string) error {
	ids, _, _ := strings.Cut(path, "?")
	for id := range strings.SplitSeq(strings.TrimPrefix(ids, "/"), "/") {
		if id == "" || id == "." || id == ".." {
			return fmt.Errorf("%s: %q is not an id", path, id)
		}
	}
	return nil
}

// send makes a request, again and again if need be, and returns the content of the
// answer.
func (t *Transport) send(ctx context.Context, c *call) ([]byte, error) {
	for retry := 0; ; retry++ {
		content, err := t.attempt(ctx, c)
		wait, ok := c.waitFor(err, retry)
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < wait {
			ok = false
		}
		if !ok || retry >= t.retries || ctx.Err() != nil && errors.Is(err, ctx.Err()) || !t.retrying(err, wait) {
			return content, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w; the last attempt: %w", ctx.Err(), err)
		}
	}
}

// waitFor is how long to wait before a request is sent again, if it is at all.
func (c *call) waitFor(err error, retry int) (time.Duration, bool) {
	wait := min(firstWait<<min(retry, 16), longestWait)
	wait -= mathrand.N(wait / 2)
	keyed := c.header.Get("Idempotency-Key") != ""
	repeatable := keyed || c.method != http.MethodPost
	if errors.Is(err, ErrNoAnswer) {
		return wait, repeatable
	}
	answer, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, false
	}
	unanswered := keyed && c.sent.Load() > c.answered.Load()
	replayed := answer.Header.Get("Idempotent-Replayed") != ""
	switch {
	case answer.Status == http.StatusTooManyRequests || answer.Status >= 500 && repeatable:
		if answer.RetryAfter > 0 {
			wait = answer.RetryAfter
		}
		return wait, wait <= longestWait
	case answer.Status == http.StatusConflict && unanswered && !replayed:
		// An attempt before this one still runs. If the conflict is another one, the next
		// answer is a replay of it.
		return wait, true
	}
	return 0, false
}

// noAnswer is the error of a request that may have been executed.
type noAnswer struct{ error }

func (e *noAnswer) Unwrap() error        { return e.error }
func (e *noAnswer) Is(target error) bool { return target == ErrNoAnswer }

func (t *Transport) attempt(ctx context.Context, c *call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { c.sent.Add(1) }}
	response, err := t.open(httptrace.WithClientTrace(ctx, trace), c)
	if _, refused := errors.AsType[*Error](err); refused {
		c.answered.Add(1)
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, &noAnswer{&url.Error{Op: c.method, URL: c.path, Err: err}}
	}
	if len(content) > maxAnswer {
		return nil, fmt.Errorf("%s %s: the answer is larger than %d bytes", c.method, c.path, maxAnswer)
	}
	return content, nil
}

func (t *Transport) open(ctx context.Context, c *call) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, c.method, t.base+c.path, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	request.Header = c.header.Clone()
	response, err := t.http.Do(request)
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return nil, err
	} else if err != nil {
		return nil, &noAnswer{err}
	}
	if c.into != nil {
		*c.into = response.Header
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		return nil, errorOf(response, request.URL)
	}
	return response, nil
}
