package teamdata_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

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

// A request says which client sends it, unless the call says otherwise.
func TestUserAgent(t *testing.T) {
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen = r.UserAgent() }))
	defer server.Close()
	client := teamdata.New(teamdata.Config{BaseURL: server.URL, Key: "key_1.secret"})
	if _, err := client.TestWebhook(t.Context(), "whe_1"); err != nil || !regexp.MustCompile(`^teamdata-go/\d+\.\d+\.\d+$`).MatchString(seen) {
		t.Errorf("it came from %q, %v", seen, err)
	}
	if _, err := client.TestWebhook(t.Context(), "whe_1", teamdata.SetHeader("User-Agent", "mine/1")); err != nil || seen != "mine/1" {
		t.Errorf("it came from %q, %v", seen, err)
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
