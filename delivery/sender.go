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

// sender makes one attempt: a signed POST that follows no redirect and uses no
// proxy.
type sender struct {
	client    *http.Client
	userAgent []string
	timeout   time.Duration
}

func newSender(c Config) *sender {
	dialer := &net.Dialer{Control: c.Control}
	transport := &http.Transport{
		Proxy:                  nil, // never from the environment: it would hide the address from the guard
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           c.Total,
		MaxIdleConnsPerHost:    c.PerEndpoint,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxAnswerHeaders,
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender{
		client:    &http.Client{Transport: transport, CheckRedirect: noRedirect},
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
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	a.Status = response.StatusCode
	// What goes wrong with the answer's body doesn't matter: the status line has
	// come. Reading it to its end lets the connection be used again.
	a.Answer, _ = io.ReadAll(io.LimitReader(response.Body, store.MaxKeptAnswer))
	io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer-store.MaxKeptAnswer))
	return nil
}

func (s *sender) request(ctx context.Context, e *store.Endpoint, c *store.Claim) (*http.Request, error) {
	now := time.Now()
	var secrets []signature.Secret
	for _, text := range e.Secrets(now) {
		secret, err := signature.ParseSecret(text)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(c.Body))
	if err != nil {
		return nil, err
	}
	unix := now.Unix()
	r.Header = http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        s.userAgent,
		"webhook-id":        {c.Delivery.ID},
		"webhook-timestamp": {strconv.FormatInt(unix, 10)},
		"webhook-signature": {string(signature.Sign(nil, c.Delivery.ID, unix, c.Body, secrets...))},
		// Not sent. It tells net/http that the request may be repeated on a new
		// connection when a reused one dies before a byte of the answer came:
		// receivers skip an id that they have seen.
		"Idempotency-Key": nil,
	}
	return r, nil
}
