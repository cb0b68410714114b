package page_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// formClient is a person with a browser that runs no scripts, at the settings page
// of a server.
type formClient struct {
	*program.Process
	jar *http.Client
}

// signIn goes the way of the link that the operator makes.
func signIn(p *program.Process, data, user string) *formClient {
	p.T.Helper()
	c := &formClient{p, program.Browser(p)}
	c.post(program.LinkPath(program.MustRun(p.T, "signin-link", user, "--data", data)), url.Values{"password": {storyPassword}})
	return c
}

// page is a page as it is now.
func (c *formClient) page(path string) string {
	c.T.Helper()
	return program.Open(c.Process, c.jar, c.URL+path, nil)
}

// post sends a form, and is the page that it leads to, with its path.
func (c *formClient) post(path string, form url.Values) (at, body string) {
	c.T.Helper()
	r, err := c.jar.PostForm(c.URL+path, form)
	kit.Must(c.T, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		c.T.Fatalf("%s: %v, %d %s", r.Request.URL, err, r.StatusCode, text)
	}
	return r.Request.URL.Path, string(text)
}

func (c *formClient) wants(body string, texts ...string) {
	c.T.Helper()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			c.T.Errorf("the page lacks %q: %s", text, body)
		}
	}
}

// sees waits until the live part of a delivery's page says something.
func (c *formClient) sees(delivery string, texts ...string) {
	c.T.Helper()
	c.Await(strings.Join(texts, ", "), func() bool {
		body := c.page(delivery + "/live")
		for _, text := range texts {
			if !strings.Contains(body, text) {
				return false
			}
		}
		return true
	})
}

// From the form of a new endpoint to a test that arrives, then one that fails until
// the endpoint is disabled, and all of it brought back: over real sockets, with a
// short schedule.
func TestSettingsWebhooks(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	came := make(chan string, 100)
	hook, ca := program.ServeTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failing.Load() {
			http.Error(w, "no such table: <events>", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var headers strings.Builder
		r.Header.Write(&headers)
		came <- headers.String() + "\r\n" + string(body)
	}))
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", kit.NewFile(t, "seed.json", storySeed), "--retry-schedule", "20ms,20ms", "--allow-endpoint-cidr", "127.0.0.1/32", "--webhook-ca", ca)
	c := signIn(p, data, "usr_ada")

	endpoint, body := c.post("/settings/orgs/org_acme/new-endpoint", url.Values{"url": {hook}, "events": {"member.added"}})
	endpoint, _, _ = strings.Cut(endpoint, "/setup")
	c.wants(body, "was added", "Send test")
	first, _ := c.post(endpoint+"/test", nil)
	c.sees(first, "data-done", "Acknowledged", ": 200 after")
	headers, sent, _ := strings.Cut(<-came, "\r\n\r\n")
	_, body = c.post(endpoint+"/verify", url.Values{"headers": {headers}, "body": {sent}})
	c.wants(body, "The request verifies", "a delivery to this endpoint")
	_, body = c.post(endpoint+"/verify", url.Values{"headers": {headers}, "body": {sent + " "}})
	c.wants(body, "The request does not verify", "line break that was not sent")

	failing.Store(true)
	second, _ := c.post(endpoint+"/test", url.Values{"nonce": {"another form"}})
	c.sees(second, "data-done", "Failed after 3 attempts", "the receiver answered 503 Service Unavailable", "no such table: &lt;events&gt;")
	if n := strings.Count(c.page(second), `<dt>Outcome</dt>`); n != 3 {
		t.Errorf("%d attempts are shown", n)
	}
	c.wants(c.page(endpoint), "Disabled automatically", "Enable</button>")

	failing.Store(false)
	_, body = c.post(endpoint+"/enable", nil)
	c.wants(body, "The endpoint is enabled.")
	_, body = c.post("/settings/orgs/org_acme/replay", url.Values{"endpoint": {endpoint[strings.LastIndex(endpoint, "/")+1:]}, "state": {"failed"}})
	c.wants(body, "Retry of 1 delivery")
	c.sees(second, "data-done", ": 200 after", "503")
	c.wants(c.page(endpoint+"/deliveries?state=acknowledged"), fmt.Sprintf(`href="%s"`, first), fmt.Sprintf(`href="%s"`, second))
	p.StopWell()
}

// TestWebhookThatCanNotArrive: the page says so at once, and who can change that.
func TestWebhookThatCanNotArrive(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", kit.NewFile(t, "seed.json", storySeed), "--allow-endpoint-cidr", "10.1.0.0/16")
	c := signIn(p, data, "usr_ada")
	add := func(address string) string {
		_, body := c.post("/settings/orgs/org_acme/new-endpoint", url.Values{"url": {address}, "events": {"member.added"}})
		return body
	}
	const refused = "Nothing can be delivered to this URL."
	c.wants(add("https://10.0.0.5/hook"), "was added", refused,
		"Deliveries to 10.0.0.5 will be refused (private range 10.0.0.0/8), unless the operator of the server allows that with --allow-endpoint-cidr 10.0.0.5.")
	c.wants(add("https://[fd00::1]:444/"), refused, "[fd00::1]:444", "--allow-endpoint-cidr fd00::1.")
	c.wants(add("https://LOCALHOST/"), refused, "loopback range 127.0.0.0/8")
	own, _ := url.Parse(p.URL)
	c.wants(add("https://"+own.Host+"/"), refused, "of this server&#39;s own listeners.")
	for _, address := range []string{"https://10.1.0.5/", "https://192.0.2.1.example/", "https://1.1.1.1/"} {
		if strings.Contains(add(address), refused) {
			t.Errorf("%s is said to be refused", address)
		}
	}
}
