package receiver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/signature"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	old    = "whsec_bmV2ZXItdXNlZC1lbHNld2hlcmUtYnl0ZXM="
	event  = `{"type":"member.added","data":{}}`
)

// parsed parses valid secrets.
func parsed(t testing.TB, texts ...string) Secrets {
	t.Helper()
	secrets, err := ParseSecrets(strings.Join(texts, "\n"))
	kit.Must(t, err)
	return secrets
}

// serve serves a receiver over TLS, and returns its URL and a client of it.
func serve(t testing.TB, config Config) (*Receiver, *httptest.Server) {
	t.Helper()
	r := New(config)
	server := httptest.NewTLSServer(r)
	t.Cleanup(server.Close)
	t.Cleanup(r.Stop)
	return r, server
}

// signed is a request as an endpoint with these secrets sends it.
func signed(t testing.TB, url, id string, at time.Time, body string, secrets ...string) *http.Request {
	t.Helper()
	var keys []signature.Secret
	for _, text := range secrets {
		key, err := signature.ParseSecret(text)
		kit.Must(t, err)
		keys = append(keys, key)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	kit.Must(t, err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("webhook-id", id)
	q.Header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	q.Header.Set("webhook-signature", string(signature.Sign(nil, id, at.Unix(), []byte(body), keys...)))
	return q
}

func post(t testing.TB, server *httptest.Server, q *http.Request) (status int, body string) {
	t.Helper()
	answer := kit.Fetch(t, server.Client(), q)
	return answer.Status, answer.Body
}

// The reference library verifies what the sending side signs.
func TestReceiver(t *testing.T) {
	var got []Event
	_, server := serve(t, Config{Secrets: parsed(t, secret, old), Print: func(e Event) { got = append(got, e) }})
	for _, test := range []struct {
		name    string
		off     time.Duration // of its time
		secrets []string
		change  func(*http.Request)
		status  int
		want    Event
	}{
		{"signed", 0, []string{secret}, nil, 204, Event{Verdict: Verified}},
		{"again", 0, []string{secret}, nil, 204, Event{Verdict: Verified, Again: true}},
		{"with the old secret", 0, []string{old}, nil, 204, Event{Verdict: Verified, Again: true}},
		{"with both", 0, []string{old, secret}, nil, 204, Event{Verdict: Verified, Again: true}},
		{"with another", 0, []string{secret[:len(secret)-1] + "x"}, nil, 400, Event{Problem: "no signature matches"}},
		{"too old", -301 * time.Second, []string{secret}, nil, 400, Event{Problem: "too old"}},
		{"too new", 6 * time.Minute, []string{secret}, nil, 400, Event{Problem: "too new"}},
		{"changed body", 0, []string{secret}, func(q *http.Request) {
			q.Body = io.NopCloser(strings.NewReader(strings.Replace(event, "added", "addee", 1)))
		}, 400, Event{Type: "member.addee", Problem: "no signature matches"}},
		{"no signature", 0, []string{secret}, func(q *http.Request) { q.Header.Del("webhook-signature") }, 400, Event{Problem: "is missing"}},
		{"a time that is none", 0, []string{secret}, func(q *http.Request) { q.Header.Set("webhook-timestamp", "soon") }, 400, Event{Problem: "not a number of seconds"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got = nil
			q := signed(t, server.URL, "whd_1", time.Now().Add(test.off), event, test.secrets...)
			if test.change != nil {
				test.change(q)
			}
			if status, _ := post(t, server, q); status != test.status {
				t.Errorf("answered %d, not %d", status, test.status)
			}
			if len(got) != 1 {
				t.Fatalf("printed %d events", len(got))
			}
			isEvent(t, got[0], test.want, test.status)
		})
	}
}

// isEvent compares an event with the wanted one; zero values are those of a refused
// member.added.
func isEvent(t *testing.T, got, want Event, status int) {
	t.Helper()
	if want.Verdict == "" {
		want.Verdict = Refused
	}
	if want.Type == "" {
		want.Type = "member.added"
	}
	if got.Verdict != want.Verdict || got.Again != want.Again || got.Status != status || got.ID != "whd_1" || got.Type != want.Type {
		t.Errorf("printed %+v, not %+v", got, want)
	}
	if !strings.Contains(got.Problem, want.Problem) || (got.Problem == "") != (want.Problem == "") {
		t.Errorf("the problem is %q, not %q", got.Problem, want.Problem)
	}
	if time.Since(got.ReceivedAt).Abs() > time.Hour {
		t.Errorf("it came at %s", got.ReceivedAt)
	}
}

func TestWithoutSecret(t *testing.T) {
	var got []Event
	_, server := serve(t, Config{Print: func(e Event) { got = append(got, e) }})
	for range 2 {
		q := signed(t, server.URL, "whd_1", time.Unix(0, 0), event, secret)
		if status, _ := post(t, server, q); status != 204 {
			t.Errorf("answered %d", status)
		}
	}
	if len(got) != 2 || got[0].Verdict != Unverified || got[0].Again || !got[1].Again || string(got[1].Body) != event {
		t.Errorf("printed %+v", got)
	}
}

func TestStatus(t *testing.T) {
	_, server := serve(t, Config{Secrets: parsed(t, secret), Status: 503})
	if status, body := post(t, server, signed(t, server.URL, "whd_1", time.Now(), event, secret)); status != 503 || body != "" {
		t.Errorf("answered %d %q", status, body)
	}
	if status, _ := post(t, server, signed(t, server.URL, "whd_1", time.Now(), event, old)); status != 400 {
		t.Errorf("what does not verify is answered %d", status)
	}
}

func TestOtherMethods(t *testing.T) {
	_, server := serve(t, Config{Print: func(e Event) { t.Errorf("printed %+v", e) }})
	q := signed(t, server.URL, "whd_1", time.Now(), "", secret)
	q.Method = http.MethodGet
	answer, err := server.Client().Do(q)
	kit.Must(t, err)
	answer.Body.Close()
	if answer.StatusCode != 405 || answer.Header.Get("Allow") != "POST" {
		t.Errorf("answered %d %v", answer.StatusCode, answer.Header)
	}
}

func TestLongBody(t *testing.T) {
	var got []Event
	_, server := serve(t, Config{Secrets: parsed(t, secret), Print: func(e Event) { got = append(got, e) }})
	for size, want := range map[int]int{MaxBody: 204, MaxBody + 1: 413} {
		body := string(bytes.Repeat([]byte{'1'}, size))
		if status, _ := post(t, server, signed(t, server.URL, "whd_1", time.Now(), body, secret)); status != want {
			t.Errorf("%d bytes were answered %d, not %d", size, status, want)
		}
		if last := got[len(got)-1]; last.Status != want {
			t.Errorf("printed %+v", last)
		}
	}
}

func TestAnswered(t *testing.T) {
	var ids []string
	_, server := serve(t, Config{Secrets: parsed(t, secret), Answered: func(e Event) { ids = append(ids, e.ID) }})
	post(t, server, signed(t, server.URL, "whd_1", time.Now(), event, old))
	post(t, server, signed(t, server.URL, "whd_2", time.Now(), event, secret))
	server.Close() // waits for the handlers
	if fmt.Sprint(ids) != "[whd_2]" {
		t.Errorf("answered %v", ids)
	}
}

// The latest ids are known, older ones are forgotten, and memory is bounded.
func TestRecent(t *testing.T) {
	var r recent
	const last = 2*minRecent + minRecent/2
	for i := range last {
		if r.add(fmt.Sprint(i)) {
			t.Fatalf("%d was known", i)
		}
	}
	if len(r.full) != minRecent || len(r.filling) != minRecent/2 {
		t.Errorf("%d and %d are kept", len(r.full), len(r.filling))
	}
	for i := last - minRecent; i < last; i++ {
		if !r.add(fmt.Sprint(i)) {
			t.Fatalf("%d was forgotten", i)
		}
	}
	if r.add("0") {
		t.Error("the first is known")
	}
}
