package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/rows"
)

// newPullEnv is a newTestEnv with endpoints to pull from, and keys for that.
func newPullEnv(t testing.TB, c Config) *testEnv {
	t.Helper()
	env := newTestEnv(t, c)
	env.Store.OnDue(env.server.Due)
	env.addPull()
	return env
}

func (env *testEnv) addPull() {
	env.Helper()
	env.Update(func(tx store.Tx) (err error) {
		for _, e := range []store.Endpoint{
			{ID: "whe_pull", OrgID: "org_acme"}, {ID: "whe_second", OrgID: "org_acme"},
			{ID: "whe_shut", OrgID: "org_acme", DisabledAt: kit.Noon}, {ID: "whe_teampull", OrgID: "org_team"},
		} {
			e.Events = []string{store.EventMemberAdded}
			_, wrong := store.ImportEndpoint(tx, e)
			err = errors.Join(err, wrong)
		}
		for _, k := range []store.APIKey{
			{ID: "key_pull", OrgID: "org_acme", Scopes: store.ScopeReceive, CreatedBy: "usr_ada"},
			{ID: "key_second", OrgID: "org_acme", Scopes: store.ScopeReceive, CreatedBy: "usr_ada", Endpoints: []string{"whe_second"}},
			{ID: "key_gone", OrgID: "org_acme", Scopes: store.ScopeReceive, CreatedBy: "usr_ada", RevokedAt: kit.Noon},
			{ID: "key_teampull", OrgID: "org_team", Scopes: store.ScopeReceive, CreatedBy: "usr_tom"},
			{ID: "key_readerspull", OrgID: "org_readers", Scopes: store.ScopeReceive, CreatedBy: "usr_ron"},
		} {
			k.SecretHash = store.HashSecret(fixtureSecret)
			_, wrong := store.ImportKey(tx, k)
			err = errors.Join(err, wrong)
		}
		return err
	})
}

// send sends test events to an endpoint, and returns the ids of their deliveries.
func (env *testEnv) send(endpoint string, n int) (ids []string) {
	env.Helper()
	env.Update(func(tx store.Tx) error {
		for range n {
			d, err := store.SendTest(tx, "org_acme", endpoint)
			if err != nil {
				return err
			}
			ids = append(ids, d.ID)
		}
		return nil
	})
	return ids
}

// pulledDelivery is one of an answer.
type pulledDelivery struct {
	ID, Timestamp, Signature, Body, Lease string
	LeaseEndsAt                           time.Time
}

type pullAnswer struct {
	code       int
	header     http.Header
	Deliveries []pulledDelivery
	Error      struct{ Code, Message, Field string }
}

// value is that of a header, however its name is written.
func (a *pullAnswer) value(name string) string { return strings.Join(a.header[name], ", ") }

func (a *pullAnswer) ids() (ids []string) {
	for _, d := range a.Deliveries {
		ids = append(ids, d.ID)
	}
	return ids
}

// pull makes a request of a path below /pull without a network.
func (env *testEnv) pull(path, key, body string) (a pullAnswer) {
	env.Helper()
	return readPulled(env, env.do(pullRequestOf(path, key, body)))
}

func pullRequestOf(path, key, body string) *http.Request {
	r := newRequest("POST", "/pull/"+path, key)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return r
}

func readPulled(t testing.TB, answer *httptest.ResponseRecorder) (a pullAnswer) {
	t.Helper()
	if err := json.Unmarshal(answer.Body.Bytes(), &a); err != nil {
		t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	a.code, a.header = answer.Code, answer.Header()
	return a
}

// wantPulled complains unless deliveries were answered, in their order.
func (env *testEnv) wantPulled(a pullAnswer, ids ...string) {
	env.Helper()
	if a.code != http.StatusOK || !slices.Equal(a.ids(), ids) {
		env.Errorf("got %d %q %+v, want %q", a.code, a.ids(), a.Error, ids)
	}
}

// consumer sends requests over TLS, on connections of its own.
type consumer struct {
	*testEnv
	client http.Client
}

// newConsumer is one on HTTP/1.1, or on HTTP/2.
func (env *testEnv) newConsumer(http2 bool) *consumer {
	env.Helper()
	if env.addr == "" {
		env.listenWith(true)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: http2}
	if !http2 {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	env.Cleanup(transport.CloseIdleConnections)
	return &consumer{env, http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

// pulling makes a request in the background; its answer comes over the channel, which is
// closed without one if the request ended so.
func (c *consumer) pulling(ctx context.Context, path, key, body string) <-chan pullAnswer {
	c.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "https://"+c.addr+"/pull/"+path, strings.NewReader(body))
	kit.Must(c, err)
	r.Header.Set("Authorization", "Bearer "+key+"."+fixtureSecret)
	answers := make(chan pullAnswer, 1)
	go func() {
		defer close(answers)
		response, err := c.client.Do(r)
		if err != nil {
			return
		}
		defer response.Body.Close()
		var text bytes.Buffer
		if _, err := text.ReadFrom(response.Body); err != nil {
			return
		}
		a := pullAnswer{code: response.StatusCode, header: response.Header}
		json.Unmarshal(text.Bytes(), &a)
		answers <- a
	}()
	return answers
}

// answered waits for the answer to a request.
func (env *testEnv) answered(answers <-chan pullAnswer) pullAnswer {
	env.Helper()
	select {
	case a, ok := <-answers:
		if !ok {
			env.Fatal("the request got no answer")
		}
		return a
	case <-time.After(20 * time.Second):
		env.Fatal("the request is not answered")
	}
	return pullAnswer{}
}

// waitForWaiting returns once so many requests wait, and each has looked.
func (env *testEnv) waitForWaiting(n int) {
	env.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		if got := env.server.pulls.waiting(); got == n {
			return
		} else if time.Now().After(deadline) {
			env.Fatalf("%d requests wait, and not %d", got, n)
		}
		<-time.After(time.Millisecond)
	}
}

// waiting counts those who have looked and wait.
func (p *pullWaiters) waiting() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		for _, w := range l.waiters {
			if w.looked && l.told != w {
				n++
			}
		}
	}
	return n
}

// rowsOf are all rows of the store, as text.
func (env *testEnv) rowsOf() (text string) {
	env.Helper()
	env.View(func(tx store.Tx) error {
		var b strings.Builder
		for _, k := range rows.Kinds() {
			if err := tx.Scan(k, rows.Range{Index: rows.ByKey}, func(item rows.Item) bool {
				b.WriteString(k.Name + " " + string(item.Key) + " " + string(item.Value) + "\n")
				return true
			}); err != nil {
				return err
			}
		}
		text = b.String()
		return nil
	})
	return text
}
