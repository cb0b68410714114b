package delivery

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"teamdata/internal/canonical"
	"teamdata/internal/signature"
	"teamdata/store"
)

// target is an endpoint prepared for sending: its URL and secrets, parsed.
type target struct {
	endpoint store.Endpoint // as it was when it was parsed
	url      *url.URL
	signers  []signature.Secret // the current secret, and the old one if there is one
	headers  http.Header        // those of its own, as they were typed; nil: none
}

func newTarget(e *store.Endpoint) (*target, error) {
	t := &target{endpoint: *e}
	var err error
	// An older version may have stored the URL as it was typed.
	if t.url, err = canonical.URL(e.URL); err != nil {
		return nil, err
	}
	t.signers, err = signature.ParseSecrets(e.Secret, e.OldSecret)
	t.headers = headersOf(&e.Sending)
	return t, err
}

// headersOf are the headers of an endpoint's own.
func headersOf(o *store.SendOptions) http.Header {
	if len(o.HeaderNames) == 0 {
		return nil
	}
	headers, values := make(http.Header, len(o.HeaderNames)), o.HeaderValues()
	for i, name := range o.HeaderNames {
		if strings.EqualFold(name, userAgent) {
			name = userAgent // the one that net/http writes, in whatever case it was typed
		}
		headers[name] = values[i : i+1 : i+1]
	}
	return headers
}

const userAgent = "User-Agent"

// secrets returns the secrets that sign now, newest first.
func (t *target) secrets(now time.Time) []signature.Secret {
	return t.signers[:len(t.endpoint.Secrets(now))]
}

// isOf reports whether the endpoint is unchanged since it was parsed.
func (t *target) isOf(e *store.Endpoint) bool {
	return t.endpoint.URL == e.URL && t.endpoint.Secret == e.Secret &&
		t.endpoint.OldSecret == e.OldSecret && t.endpoint.OldSecretUntil.Equal(e.OldSecretUntil) &&
		t.endpoint.Sending.Equal(&e.Sending)
}

// maxTargets bounds the memory of targets: beyond it the cache is cleared.
const maxTargets = 10_000

// targets caches the endpoints sent to, by number.
type targets struct {
	mu     sync.Mutex
	parsed map[uint64]*target
}

func (ts *targets) of(e *store.Endpoint) (*target, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.parsed[e.Number]; t != nil && t.isOf(e) {
		return t, nil
	}
	t, err := newTarget(e)
	if err != nil {
		return nil, err
	}
	if ts.parsed == nil || len(ts.parsed) >= maxTargets {
		ts.parsed = make(map[uint64]*target)
	}
	ts.parsed[e.Number] = t
	return t, nil
}
