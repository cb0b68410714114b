package teamdata_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	teamdata "teamdata/client"
	"teamdata/client/admin"
)

// A redirect is an error: the key is sent to the server of the config alone.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			http.Redirect(w, r, "/elsewhere", status)
		}))
		_, err := teamdata.New(teamdata.Config{BaseURL: server.URL, Key: "key_1.secret"}).TestWebhook(t.Context(), "whe_1")
		server.Close()
		if refused, ok := errors.AsType[*teamdata.Error](err); !ok || refused.Status != status || requests != 1 {
			t.Errorf("%d: %d requests, %v", status, requests, err)
		}
	}
}

// An answer without a body, as of something between, is no empty list.
func TestEmptyAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	client := teamdata.New(teamdata.Config{BaseURL: server.URL, Key: "key_1.secret"})
	for member, err := range client.ListMembers().All(t.Context()) {
		if err == nil {
			t.Errorf("there is the member %v", member)
		}
		return
	}
	t.Error("the list is empty")
}

// A request says which client sends it, unless the call says otherwise.
func TestUserAgent(t *testing.T) {
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.UserAgent()
		io.WriteString(w, "{}")
	}))
	defer server.Close()
	client := teamdata.New(teamdata.Config{BaseURL: server.URL, Key: "key_1.secret"})
	if _, err := client.TestWebhook(t.Context(), "whe_1"); err != nil || !regexp.MustCompile(`^teamdata-go/\d+\.\d+\.\d+$`).MatchString(seen) {
		t.Errorf("it came from %q, %v", seen, err)
	}
	if _, err := client.TestWebhook(t.Context(), "whe_1", teamdata.SetHeader("User-Agent", "mine/1")); err != nil || seen != "mine/1" {
		t.Errorf("it came from %q, %v", seen, err)
	}
	transport := teamdata.NewTransport(teamdata.Config{BaseURL: server.URL}, "/api/v1", http.Header{"User-Agent": {"all-mine/1"}})
	if _, err := teamdata.Call[any](t.Context(), transport, http.MethodGet, "/members", nil, nil); err != nil || seen != "all-mine/1" {
		t.Errorf("it came from %q, %v", seen, err)
	}
}

// A request without an Idempotency-Key is sent again only if it was not executed, and what
// is told of a retry may end them.
func TestRetriesWithoutKey(t *testing.T) {
	lost := errors.New("the line broke")
	for _, test := range []struct {
		name   string
		status int // 0: there is no answer
		key    []teamdata.Option
		allow  int // retries
		sent   int
	}{
		{"refused", http.StatusTooManyRequests, []teamdata.Option{teamdata.IdempotencyKey("")}, 9, 3},
		{"failed", http.StatusServiceUnavailable, []teamdata.Option{teamdata.IdempotencyKey("")}, 9, 1},
		{"lost", 0, []teamdata.Option{teamdata.IdempotencyKey("")}, 9, 1},
		{"lost, with a key", 0, nil, 9, 3},
		{"lost, and told to stop", 0, nil, 1, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent, allowed := 0, 0
				answer := func(q *http.Request) (*http.Response, error) {
					if _, has := q.Header["Idempotency-Key"]; has != (test.key == nil) {
						t.Errorf("it has the key %q", q.Header["Idempotency-Key"])
					}
					if sent++; test.status == 0 {
						return nil, lost
					}
					return &http.Response{StatusCode: test.status, Body: http.NoBody}, nil
				}
				_, err := teamdata.New(teamdata.Config{
					BaseURL: "https://data.example.com", HTTP: &http.Client{Transport: network(answer)}, Retries: 2,
					Retrying: func(err error, wait time.Duration) bool {
						allowed++
						return err != nil && wait > 0 && allowed <= test.allow
					},
				}).TestWebhook(t.Context(), "whe_1", test.key...)
				if sent != test.sent || errors.Is(err, teamdata.ErrNoAnswer) != (test.status == 0) || errors.Is(err, lost) != (test.status == 0) {
					t.Errorf("it was sent %d times and not %d: %v", sent, test.sent, err)
				}
			})
		})
	}
}

// A call that is canceled as its answer comes ends as one that is canceled while it waits.
func TestCanceledBeforeItWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	answer := func(*http.Request) (*http.Response, error) {
		cancel()
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
	}
	_, err := teamdata.New(teamdata.Config{BaseURL: "https://data.example.com", HTTP: &http.Client{Transport: network(answer)}}).TestWebhook(ctx, "whe_1")
	if refused, ok := errors.AsType[*teamdata.Error](err); !ok || refused.Status != http.StatusServiceUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// network answers requests.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(q *http.Request) (*http.Response, error) { return n(q) }

// An id that a URL drops is refused before anything is sent: without it the path of a
// member is that of the org.
func TestIDsThatNameSomethingElse(t *testing.T) {
	requests := &recorder{}
	client := admin.New(teamdata.Config{BaseURL: "https://data.example.com", HTTP: &http.Client{Transport: requests}, Retries: -1})
	for _, id := range []string{"", ".", ".."} {
		if _, err := client.RemoveMember(t.Context(), "org_acme", id); err == nil || requests.last != (request{}) {
			t.Errorf("the user %q: %v, %v", id, requests.last, err)
		}
		for _, err := range client.ListMembers(id).All(t.Context()) {
			if err == nil || requests.last != (request{}) {
				t.Errorf("the org %q: %v, %v", id, requests.last, err)
			}
		}
	}
}
