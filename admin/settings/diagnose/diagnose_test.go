package diagnose

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/e2e/kit"
	"teamdata/internal/signature"
)

const (
	secret = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="
	old    = "whsec_b2xkLXRlYW1kYXRhLXNlY3JldC13aXRoLTMyLWJ5dGU="
	other  = "whsec_b3RoZXItdGVhbWRhdGEtc2VjcmV0LTMyLWJ5dGVzLi4="
	id     = "whd_01K60865992206906030338374"
	sent   = `{"type":"file.uploaded","timestamp":"2026-10-06T12:00:00.000Z","data":{"name":"plan für <2027> & more.pdf","size":48213}}`
)

var noon = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

func sign(t testing.TB, secret, id string, at time.Time, body string) string {
	t.Helper()
	s, err := signature.ParseSecret(secret)
	kit.Must(t, err)
	return string(signature.Sign(nil, id, at.Unix(), []byte(body), s))
}

func lines(id, timestamp, signature string) string {
	return "POST /hook HTTP/1.1\r\nHost: example.com\r\nWebhook-Id: " + id + "\r\nwebhook-timestamp:" + timestamp + "\r\nWEBHOOK-SIGNATURE: " + signature + "\r\n"
}

// good is a request as it was sent, received two seconds later.
func good(t testing.TB) Case {
	return Case{
		Headers: lines(id, unix(noon), sign(t, secret, id, noon, sent)), Body: []byte(sent), ReceivedAt: noon.Add(2 * time.Second),
		Signers: []Signer{{"the endpoint's secret", secret, true}, {"the old secret", old, true}, {"the secret of the endpoint whe_other", other, false}},
	}
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// failing is the check that fails, when it is one alone.
func failing(t *testing.T, r Report) (failed Check) {
	t.Helper()
	n := 0
	for _, c := range r.Checks {
		if !c.OK && (c.Name != "match" || n == 0) {
			failed = c
			n++
		}
	}
	if r.Verifies != (n == 0) || n > 1 {
		t.Errorf("verifies %v, with %+v", r.Verifies, r.Checks)
	}
	return failed
}

func TestVerifies(t *testing.T) {
	for name, c := range map[string]func(*Case){
		"as sent":        func(*Case) {},
		"lines of LF":    func(c *Case) { c.Headers = strings.ReplaceAll(c.Headers, "\r\n", "\n") },
		"the old secret": func(c *Case) { c.Headers = lines(id, unix(noon), sign(t, old, id, noon, sent)) },
		"two signatures": func(c *Case) {
			c.Headers = lines(id, unix(noon), sign(t, other, id, noon, sent)+" "+sign(t, secret, id, noon, sent))
		},
		"one of another kind":  func(c *Case) { c.Headers = lines(id, unix(noon), "v1a,abc "+sign(t, secret, id, noon, sent)) },
		"almost too old":       func(c *Case) { c.ReceivedAt = noon.Add(Tolerance) },
		"almost too new":       func(c *Case) { c.ReceivedAt = noon.Add(-Tolerance) },
		"an id of another one": func(c *Case) { c.Headers = lines("msg_1", unix(noon), sign(t, secret, "msg_1", noon, sent)) },
		"an empty body":        func(c *Case) { c.Body, c.Headers = nil, lines(id, unix(noon), sign(t, secret, id, noon, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			request := good(t)
			c(&request)
			if r := request.Diagnose(); !r.Verifies {
				t.Errorf("got %+v", r)
			}
			if !accepted(request) {
				t.Error("the library says no")
			}
		})
	}
}

// accepted asks the reference library, by the time of receipt.
func accepted(c Case) bool {
	h := readHeaders(c.Headers)
	seconds, err := strconv.ParseInt(h.value("webhook-timestamp"), 10, 64)
	if err != nil || c.ReceivedAt.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return false
	}
	header := http.Header{}
	for name, values := range h {
		header[http.CanonicalHeaderKey(name)] = values
	}
	for _, s := range c.Signers {
		webhook, err := standardwebhooks.NewWebhook(s.Secret)
		if s.Valid && err == nil && webhook.VerifyIgnoringTimestamp(c.Body, header) == nil {
			return true
		}
	}
	return false
}

func TestSigning(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	kit.Must(t, err)
	by := func(key []byte, parts ...string) string {
		return lines(id, unix(noon), "v1,"+base64.StdEncoding.EncodeToString(sumOf(key, parts)))
	}
	for text, headers := range map[string]string{
		"without decoding its base64":         by([]byte(secret[len("whsec_"):]), id, unix(noon), sent),
		"including whsec_":                    by([]byte(secret), id, unix(noon), sent),
		"without the webhook-id and":          by(key, sent),
		"without the webhook-id before":       by(key, unix(noon), sent),
		"without the webhook-timestamp":       by(key, id, sent),
		"put before the webhook-id":           by(key, unix(noon), id, sent),
		"of the endpoint whe_other":           lines(id, unix(noon), sign(t, other, id, noon, sent)),
		"No signature matches. Either the se": by([]byte("another program's secret"), id, unix(noon), sent),
	} {
		t.Run(text, func(t *testing.T) {
			c := good(t)
			c.Headers = headers
			if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, text) {
				t.Errorf("got %+v", f)
			}
		})
	}
}
