package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"teamdata/delivery/signature"
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
}

func newSender(c Config) *sender {
	dialer := &net.Dialer{Control: c.Control}
	return &sender{
		network: &http.Transport{
			Proxy:       nil, // never from the environment: it would hide the address from the guard
			DialContext: dialer.DialContext,
			TLSClientConfig: &tls.Config{
				RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
				ClientSessionCache: tls.NewLRUClientSessionCache(c.Total),
			},
			DisableCompression:     true,
			MaxIdleConns:           c.Total,
			MaxIdleConnsPerHost:    c.Total, // many endpoints may be at one host
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxAnswerHeaders,
		},
		userAgent: []string{c.UserAgent},
		timeout:   c.AttemptTimeout,
	}
}

// send posts the delivery once. It is acknowledged by a 2xx status line within
// the deadline; whatever else happens is the reason why not.
func (s *sender) send(ctx context.Context, e *store.Endpoint, c *store.Claim) store.Attempt {
	a := store.Attempt{StartedAt: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := s.post(ctx, e, c, &a)
	a.EndedAt = time.Now()
	switch {
	case err != nil:
		a.TimedOut = errors.Is(err, context.DeadlineExceeded)
		a.Reason = reason(err, s.timeout)
	case !a.Acknowledged():
		a.Reason = strings.TrimSpace(fmt.Sprintf("the receiver answered %d %s", a.Status, http.StatusText(a.Status)))
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
	a.Status = response.StatusCode
	if response.ContentLength == 0 {
		return nil
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
