package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"teamdata/internal/signature"
	"teamdata/store"
)

const (
	maxAnswer        = 16 << 10 // bytes of an answer's body that are read
	maxAnswerHeaders = 16 << 10
	idleTimeout      = 90 * time.Second
)

// sender makes attempts: signed POSTs over HTTP/1.1 that follow no redirect and
// use no proxy.
type sender struct {
	network   http.RoundTripper
	targets   targets
	userAgent []string
	timeout   time.Duration
	watch     *watch
}

func newSender(c Config) *sender {
	// net/http goes on with a connection after the attempt that wanted it has
	// ended, since the next may use it. Unless that ends too, receivers that accept
	// and say nothing gather connections. It ends later than the attempt, whose own
	// deadline is what people are told of.
	connectTimeout := c.AttemptTimeout + time.Second
	dialer := &net.Dialer{Control: c.Control, Resolver: c.resolver, Timeout: connectTimeout}
	return &sender{
		network: &http.Transport{
			Proxy:       nil, // never from the environment: it would hide the address from the guard
			DialContext: dialer.DialContext,
			TLSClientConfig: &tls.Config{
				RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
				ClientSessionCache: tls.NewLRUClientSessionCache(c.Total),
			},
			TLSHandshakeTimeout:    connectTimeout,
			DisableCompression:     true,
			MaxIdleConns:           c.Total,
			MaxIdleConnsPerHost:    c.Total, // many endpoints may be at one host
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxAnswerHeaders,
		},
		userAgent: []string{c.UserAgent},
		timeout:   c.AttemptTimeout,
		watch:     c.watch,
	}
}

// send posts the delivery once. It is acknowledged by a 2xx status line within
// the deadline; whatever else happens is the reason why not.
func (s *sender) send(grace context.Context, e *store.Endpoint, c *store.Claim) store.Attempt {
	a := store.Attempt{StartedAt: time.Now()}
	ctx, cancel := context.WithTimeout(grace, s.timeout)
	defer cancel()
	var p progress
	err := s.post(p.watch(ctx), e, c, &a)
	a.EndedAt = time.Now()
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil: // and not one of net's own
		a.TimedOut, a.Reason = true, late(s.timeout, p.step())
	case err != nil:
		a.Reason = reason(err, p.step())
	case !a.Acknowledged():
		a.Reason = answered(a.Status)
	}
	if grace.Err() == nil { // else the stop cut it off
		s.watch.tell(e, &a, err, p.step())
	}
	return a
}

// post fills in what was answered; an error means that no status line came.
func (s *sender) post(ctx context.Context, e *store.Endpoint, c *store.Claim, a *store.Attempt) error {
	request, err := s.request(ctx, e, c)
	if err != nil {
		return err
	}
	response, err := s.network.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if ctx.Err() != nil {
		return ctx.Err() // late: some receivers say 200 when they see us hang up
	}
	a.Status = response.StatusCode
	if response.ContentLength == 0 {
		return nil // after a 101, reading would be from the bare connection, which no deadline ends
	}
	// What goes wrong with the answer's body doesn't matter: the status line has
	// come. Reading it to its end lets the connection be used again.
	a.Answer, _ = io.ReadAll(io.LimitReader(response.Body, store.MaxKeptAnswer))
	io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer-store.MaxKeptAnswer))
	return nil
}

func (s *sender) request(ctx context.Context, e *store.Endpoint, c *store.Claim) (*http.Request, error) {
	t, err := s.targets.of(e)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(c.Body))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	unix := now.Unix()
	r.URL, r.Host = t.url, t.url.Host
	r.Header = http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        s.userAgent,
		"webhook-id":        {c.Delivery.ID},
		"webhook-timestamp": {strconv.FormatInt(unix, 10)},
		"webhook-signature": {string(signature.Sign(nil, c.Delivery.ID, unix, c.Body, t.secrets(now)...))},
		// Not sent. It tells net/http that the request may be repeated on a new
		// connection when a reused one dies before a byte of the answer came:
		// receivers skip an id that they have seen.
		"Idempotency-Key": nil,
	}
	return r, nil
}
