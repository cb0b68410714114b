package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/rows"
)

const testOpen = "/api/v1/webhooks/whe_open/test"

// waiting are the deliveries that wait at an endpoint of org_acme.
func (env *testEnv) waiting(endpointID string) (ids []string) {
	env.Helper()
	var endpoint store.Endpoint
	err := env.Store.View(env.Context(), func(tx store.Tx) (err error) {
		endpoint, err = tx.Endpoint("org_acme", endpointID)
		return err
	})
	kit.Must(env, err)
	due, err := env.Store.Claim(env.Context(), endpoint.Number, env.Now().Add(time.Hour), 1000)
	kit.Must(env, err)
	for _, claim := range due.Claims {
		ids = append(ids, claim.Delivery.ID)
		env.Store.Release(claim.Delivery.ID)
	}
	return ids
}

func deliveryID(t *testing.T, answer *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct{ ID string }
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || !strings.HasPrefix(body.ID, "whd_") {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return body.ID
}

// The answer carries the id of the delivery that waits to be sent.
func TestWebhookTestIsQueued(t *testing.T) {
	env := newTestEnv(t, Config{})
	id := deliveryID(t, env.do(newRequest("POST", testOpen, "key_write")))
	if ids := env.waiting("whe_open"); len(ids) != 1 || ids[0] != id {
		t.Errorf("%v wait, want %s", ids, id)
	}
	if p := env.page("/api/v1/audit-log"); len(p.Data) != 3 {
		t.Errorf("the audit log has %d entries; a test makes none", len(p.Data))
	}
}

// A disabled endpoint stays disabled and gets nothing.
func TestDisabledEndpointGetsNothing(t *testing.T) {
	env := newTestEnv(t, Config{})
	wantError(t, env.do(newRequest("POST", "/api/v1/webhooks/whe_closed/test", "key_write")), store.CodeConflict)
	steps["whe_closed is enabled"](env)
	if ids := env.waiting("whe_closed"); len(ids) != 0 {
		t.Errorf("%v wait", ids)
	}
}

func TestReplayExecutesNothing(t *testing.T) {
	env := newTestEnv(t, Config{})
	first := env.do(newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k"))
	again := env.do(newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k"))
	if again.Code != first.Code || again.Body.String() != first.Body.String() {
		t.Errorf("first %d %s, then %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if ids := env.waiting("whe_open"); len(ids) != 1 {
		t.Errorf("%v wait", ids)
	}
}

// 16 requests with one key at the same instant: one is executed, each other one
// hears that it runs or gets its answer.
func TestIdempotencyAtTheSameInstant(t *testing.T) {
	const callers = 16
	env := newTestEnv(t, Config{})
	start, answers := make(chan struct{}), make(chan *httptest.ResponseRecorder, callers)
	for range callers {
		go func() {
			<-start
			answers <- env.do(newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k"))
		}()
	}
	close(start)
	executed := 0
	for range callers {
		answer := <-answers
		switch {
		case answer.Code == http.StatusConflict:
			wantError(t, answer, store.CodeConflict)
		case answer.Code != http.StatusOK:
			t.Errorf("%d %s", answer.Code, answer.Body)
		case header(answer, "Idempotent-Replayed") == nil:
			executed++
		}
	}
	if waiting := env.waiting("whe_open"); executed != 1 || len(waiting) != 1 {
		t.Errorf("%d were executed, and %v wait", executed, waiting)
	}
}

// While the first request waits for its commit, the same one is told to wait
// and a different one that it differs.
func TestIdempotencyWhileRunning(t *testing.T) {
	env := newTestEnv(t, Config{})
	held, release := make(chan struct{}), make(chan struct{})
	go env.Store.Update(env.Context(), store.All, func(store.Tx) error {
		close(held)
		<-release
		return nil
	})
	<-held
	answers := make(chan *httptest.ResponseRecorder, 2)
	for range cap(answers) {
		go func() { answers <- env.do(newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k")) }()
	}
	wantError(t, <-answers, store.CodeConflict)
	different := withBody(newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k"), 1)
	wantError(t, env.do(different), store.CodeIdempotencyMismatch)
	close(release)
	first := <-answers
	if again := env.do(newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k")); deliveryID(t, again) != deliveryID(t, first) {
		t.Errorf("first %s, then %s", first.Body, again.Body)
	}
}

// failingStore refuses to keep deliveries while it fails.
type failingStore struct {
	store.Store
	failing bool
}

func (s *failingStore) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx store.Tx) error {
		if s.failing {
			tx.Tx = tx.Decorated(func(r rows.Rows) rows.Rows { return failingRows{r} })
		}
		return fn(tx)
	})
}

// failingRows take no deliveries.
type failingRows struct{ rows.Rows }

func (f failingRows) Write(k *rows.Kind, r *rows.Row) error {
	if k.Name == "deliveries" {
		return store.Unavailable(errors.New("the disk is full"))
	}
	return f.Rows.Write(k, r)
}

// A fault is not kept as an answer: the retry is executed.
func TestFaultsAreNotKept(t *testing.T) {
	env := newTestEnv(t, Config{})
	s := &failingStore{env.Store, true}
	env.server = New(s, Config{Now: env.Now})
	r := newRequest("POST", testOpen, "key_write", "Idempotency-Key", "k")
	wantError(t, env.do(r), store.CodeUnavailable)
	s.failing = false
	answer := env.do(r)
	if id := deliveryID(t, answer); header(answer, "Idempotent-Replayed") != nil || len(env.waiting("whe_open")) != 1 {
		t.Errorf("the retry is answered with %s, and %v wait", id, env.waiting("whe_open"))
	}
}

func TestBodySize(t *testing.T) {
	unread := errReader{io.ErrUnexpectedEOF}
	for name, row := range map[string]struct {
		body   io.Reader
		length int64
		want   int
	}{
		"as much as is allowed":                    {bytes.NewReader(make([]byte, 64<<10)), 64 << 10, http.StatusOK},
		"as much as is allowed, of unknown length": {bytes.NewReader(make([]byte, 64<<10)), -1, http.StatusOK},
		"a byte more":                              {bytes.NewReader(make([]byte, 64<<10+1)), 64<<10 + 1, http.StatusRequestEntityTooLarge},
		"a byte more, of unknown length":           {bytes.NewReader(make([]byte, 64<<10+1)), -1, http.StatusRequestEntityTooLarge},
		"too much by its own word: it is not read": {unread, 64<<10 + 1, http.StatusRequestEntityTooLarge},
		"broken off":                               {unread, 5, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			env := newTestEnv(t, Config{})
			r := newRequest("POST", testOpen, "key_write")
			r.Body, r.ContentLength = io.NopCloser(row.body), row.length
			if got := env.do(r).Code; got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
