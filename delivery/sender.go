package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"teamdata/delivery/egress"
	"teamdata/internal/signature"
	"teamdata/store"
)

const (
	maxAnswer        = 16 << 10 // bytes of an answer's body that are read
	maxAnswerTime    = time.Second
	maxAnswerHeaders = 16 << 10
	idleTimeout      = 90 * time.Second
)

// sender makes attempts: signed POSTs over HTTP/1.1 that follow no redirect.
type sender struct {
	now       func() time.Time
	network   http.RoundTripper
	plain     http.RoundTripper // for http:// URLs; nil: they are refused
	own       ownNetworks
	targets   targets
	userAgent []string
	timeout   time.Duration
	proxy     *egress.Proxy // or nil
	doubtful  func() bool   // see Config.ClockInDoubt
}

func newSender(c Config) *sender {
	s := &sender{now: c.Now, network: newTransport(c, c.Control), own: ownNetworks{config: c}, userAgent: []string{c.UserAgent}, timeout: c.AttemptTimeout, proxy: c.Proxy, doubtful: c.ClockInDoubt}
	if c.HTTPOnLoopback {
		c.Proxy = nil
		s.plain = newTransport(c, onLoopback(c.Control))
	}
	return s
}

func newTransport(c Config, check control) *http.Transport {
	// net/http keeps connecting after the attempt that needed the connection has
	// ended, since the next may use it. Without its own timeout, connections to
	// receivers that accept and stay silent would pile up. It is longer than the
	// attempt's, so that the reason names the attempt's deadline.
	connectTimeout := c.AttemptTimeout + time.Second
	dialer := &net.Dialer{Control: check, Resolver: c.resolver, Timeout: connectTimeout}
	dial := dialer.DialContext
	if c.Proxy != nil {
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.Proxy.Dial(ctx, dialer, network, address)
		}
	}
	return &http.Transport{
		Proxy:       nil, // net/http's would hide the address from the guard
		DialContext: dial,
		TLSClientConfig: &tls.Config{
			RootCAs: c.RootCAs, Time: c.CertificateTime, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			ClientSessionCache: tls.NewLRUClientSessionCache(c.Total),
		},
		TLSHandshakeTimeout:    connectTimeout,
		DisableCompression:     true,
		MaxIdleConns:           c.Total,
		MaxIdleConnsPerHost:    c.Total, // many endpoints may share a host
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxAnswerHeaders,
	}
}

// control checks an address before it is dialed; nil: any will do.
type control func(network, address string, c syscall.RawConn) error

var errPlainHTTP = errors.New("plain HTTP refused: it is for tests (--test-clock), and for receivers on the server's own machine")

// onLoopback is a control for connections to this machine alone, whatever a name
// such as localhost resolves to.
func onLoopback(next control) control {
	return func(network, address string, c syscall.RawConn) error {
		addr, err := netip.ParseAddrPort(address)
		switch {
		case err != nil || !addr.Addr().Unmap().IsLoopback():
			return errPlainHTTP
		case next == nil:
			return nil
		}
		return next(network, address, c)
	}
}

// send posts the delivery once. A 2xx status line within the deadline
// acknowledges it; for anything else the attempt has a reason. The outcome is one
// of Outcomes, or outcomeShort or outcomeBehind: then StartedAt is zero if the receiver
// can't have got anything.
func (s *sender) send(grace context.Context, e *store.Endpoint, c *store.Claim) (a store.Attempt, outcome string) {
	a.StartedAt = s.now()
	ctx, cancel := context.WithTimeout(grace, s.timeout)
	defer cancel()
	began := time.Now()
	var p progress
	response, err := s.post(p.watch(ctx), e, c)
	if err == nil {
		a.Status = response.StatusCode
		defer time.AfterFunc(maxAnswerTime, cancel).Stop()
		a.Answer = readAnswer(response)
	}
	a.EndedAt = s.now()
	failed, byProxy := errors.AsType[*egress.Failure](err)
	if through := p.through.Load(); through != nil && cutOff(err) {
		failed = s.proxy.Fault(grace, *through, p.sent.Load(), began)
		byProxy = failed != nil
	}
	refusal, refused := errors.AsType[*egress.Answer](err)
	switch {
	case byProxy:
		outcome, a.Reason = outcomeBehind, oneLine(failed.Error())
	case refused:
		a.Status = refusal.Status
		outcome, a.Reason = outcomeOfStatus(a.Status), refusal.Error()
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil: // and not one of net's own
		a.TimedOut = true
		outcome, a.Reason = "timeout", late(s.timeout, p.step())
	case err == nil:
		outcome, a.Reason = answered(a.Status)
	case shortage(err):
		outcome, a.Reason = outcomeShort, oneLine(err.Error())
		s.disconnect()
	case outOfDate(err) && s.doubtful():
		outcome, a.Reason = outcomeShort, oneLine("the right time, since this server's clock and the database's differ: "+err.Error())
	default:
		outcome, a.Reason = failure(err, p.step())
	}
	if (outcome == outcomeBehind || outcome == outcomeShort) && !p.sent.Load() {
		a.StartedAt = time.Time{}
	}
	return a, outcome
}

// disconnect closes the connections that no attempt uses.
func (s *sender) disconnect() {
	s.own.disconnect()
	for _, network := range []http.RoundTripper{s.network, s.plain} {
		if network != nil {
			(&http.Client{Transport: network}).CloseIdleConnections()
		}
	}
}

// post returns the answer, whose body is still to be read; an error means that there
// was no status line.
func (s *sender) post(ctx context.Context, e *store.Endpoint, c *store.Claim) (*http.Response, error) {
	request, err := s.request(ctx, e, c)
	if err != nil {
		return nil, err
	}
	network := s.network
	switch {
	case request.URL.Scheme != "https":
		if network = s.plain; network == nil {
			return nil, errPlainHTTP
		}
	case needsOwnNetwork(&e.Sending):
		if network, err = s.own.of(e); err != nil {
			return nil, err
		}
	}
	response, err := network.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		response.Body.Close()
		return nil, ctx.Err() // late: some receivers answer 200 when they see us hang up
	}
	return response, nil
}

// readAnswer returns what is kept of an answer's body, as far as the request's context
// lets it come. Errors don't matter: the status line is in. The body is read to its end
// so that the connection can be reused.
func readAnswer(r *http.Response) []byte {
	defer r.Body.Close()
	if r.ContentLength == 0 {
		return nil // after a 101, reads are from the bare connection, which has no deadline
	}
	kept, _ := io.ReadAll(io.LimitReader(r.Body, store.MaxKeptAnswer))
	io.Copy(io.Discard, io.LimitReader(r.Body, maxAnswer-store.MaxKeptAnswer))
	return kept
}

var contentType = []string{"application/json"}

func (s *sender) request(ctx context.Context, e *store.Endpoint, c *store.Claim) (*http.Request, error) {
	t, err := s.targets.of(e)
	if err != nil {
		return nil, err
	}
	now := s.now()
	unix := now.Unix()
	signatures := signature.Sign(nil, c.Delivery.ID, unix, c.Body, t.secrets(now)...)
	values := &[3]string{c.Delivery.ID, strconv.FormatInt(unix, 10), string(signatures)}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.Body)), nil }
	r := &http.Request{
		Method: http.MethodPost, URL: t.url, Host: t.url.Host,
		ContentLength: int64(len(c.Body)), GetBody: body,
		Header: http.Header{
			"Content-Type":      contentType,
			userAgent:           s.userAgent,
			"webhook-id":        values[0:1:1],
			"webhook-timestamp": values[1:2:2],
			"webhook-signature": values[2:3:3],
			// Not sent. It tells net/http that the request may be repeated on a new
			// connection when a reused one dies before the first byte of the answer:
			// receivers skip an id that they have seen.
			"Idempotency-Key": nil,
		},
	}
	maps.Copy(r.Header, t.headers)
	r.Body, _ = body()
	return r.WithContext(ctx), nil
}
