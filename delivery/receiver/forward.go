package receiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"teamdata/internal/canonical"
	"teamdata/internal/hint"
	"teamdata/internal/httpclient"
)

// ForwardTimeout is how long an application may take: twice as long as a sender
// waits, so a slow one is noticed on both sides.
const ForwardTimeout = 30 * time.Second

// Forward is an application at a URL that also gets the events.
type Forward struct {
	url    *url.URL
	client *http.Client
}

// NewForward returns one for an application's http or https URL. It ignores the
// environment's proxies and follows no redirects, which count as answers.
func NewForward(target string) (*Forward, error) {
	u, err := canonical.URL(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not the URL of an application, such as http://127.0.0.1:3000/hook", target)
	}
	return &Forward{url: u, client: &http.Client{
		Timeout:       ForwardTimeout,
		Transport:     &http.Transport{DisableKeepAlives: true}, // applications under development restart
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// String returns the URL without a password.
func (f *Forward) String() string { return f.url.Redacted() }

// Send is an [Application] that forwards a request's body, webhook headers and content
// type. It returns the status of the application's answer.
func (f *Forward) Send(ctx context.Context, header http.Header, e Event) (status int, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url.String(), bytes.NewReader(e.Body))
	if err != nil {
		return 0, err
	}
	for name, values := range header {
		if strings.HasPrefix(name, "Webhook-") || name == "Content-Type" {
			q.Header[name] = values
		}
	}
	answer, err := f.client.Do(q)
	if err != nil {
		return 0, f.failure(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode < 200 || answer.StatusCode > 599 {
		return 0, fmt.Errorf("%s answered %d, which is not an answer to an event", f, answer.StatusCode)
	}
	return answer.StatusCode, nil
}

func (f *Forward) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s had not answered when the sender hung up", f)
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return fmt.Errorf("%s did not answer within %s", f, ForwardTimeout)
	}
	return hint.With(fmt.Errorf("%s can't be reached: %w", f, httpclient.Cause(err)), "is it running?")
}
