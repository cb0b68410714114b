package diagnose

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/delivery/signature"
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
	if err != nil {
		t.Fatal(err)
	}
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

func TestHeaders(t *testing.T) {
	fits := sign(t, secret, id, noon, sent)
	sum, err := base64.StdEncoding.DecodeString(fits[3:])
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ headers, check, text string }{
		"nothing":           {"", "webhook-id", "missing"},
		"no id":             {strings.Replace(lines(id, unix(noon), fits), "Webhook-Id", "X-Id", 1), "webhook-id", "missing"},
		"id twice":          {lines(id, unix(noon), fits) + "webhook-id: " + id, "webhook-id", "2 times"},
		"empty id":          {lines("", unix(noon), fits), "webhook-id", "empty"},
		"period in the id":  {lines("a.b", unix(noon), fits), "webhook-id", "period"},
		"other in the id":   {lines("a b", unix(noon), fits), "webhook-id", "1 to 64"},
		"no timestamp":      {lines(id, "", fits), "webhook-timestamp", "empty"},
		"milliseconds":      {lines(id, unix(noon)+"000", fits), "webhook-timestamp", "milliseconds"},
		"a date":            {lines(id, "2026-10-06T12:00:00Z", fits), "webhook-timestamp", "not a number"},
		"with a sign":       {lines(id, "+"+unix(noon), fits), "webhook-timestamp", "not a number"},
		"with a zero":       {lines(id, "0"+unix(noon), fits), "webhook-timestamp", "not a number"},
		"too old":           {lines(id, unix(noon.Add(-time.Hour)), sign(t, secret, id, noon.Add(-time.Hour), sent)), "webhook-timestamp", "too old: 1 h 0 min"},
		"a bit too old":     {lines(id, unix(noon.Add(-Tolerance)), sign(t, secret, id, noon.Add(-Tolerance), sent)), "webhook-timestamp", "too old: 5 min 2 s"},
		"too new":           {lines(id, unix(noon.Add(49*time.Hour)), sign(t, secret, id, noon.Add(49*time.Hour), sent)), "webhook-timestamp", "too new: 2 days 0 h"},
		"signature twice":   {lines(id, unix(noon), fits) + "webhook-signature: " + fits, "webhook-signature", "2 times"},
		"no v1":             {lines(id, unix(noon), fits[3:]), "webhook-signature", "does not begin with"},
		"v1=":               {lines(id, unix(noon), "v1="+fits[3:]), "webhook-signature", "does not begin with"},
		"asymmetric":        {lines(id, unix(noon), "v1a,"+fits[3:]), "webhook-signature", "asymmetric"},
		"a space":           {lines(id, unix(noon), "v1, "+fits[3:]), "webhook-signature", "a space behind"},
		"commas between":    {lines(id, unix(noon), fits+","+fits), "webhook-signature", "one space between"},
		"semicolon between": {lines(id, unix(noon), fits+";"+fits), "webhook-signature", "one space between"},
		"hex":               {lines(id, unix(noon), "v1,"+hex.EncodeToString(sum)), "webhook-signature", "in hex"},
		"URL's base64":      {lines(id, unix(noon), "v1,"+strings.Repeat("-_8A", 11)), "webhook-signature", "base64 of URLs"},
		"no padding":        {lines(id, unix(noon), strings.TrimRight(fits, "=")), "webhook-signature", "lacks the ="},
		"cut":               {lines(id, unix(noon), fits[:25]), "webhook-signature", "not in standard, padded base64"},
		"cut in four":       {lines(id, unix(noon), fits[:27]), "webhook-signature", "stands for 18 bytes"},
		"no base64":         {lines(id, unix(noon), "v1,ätsch"), "webhook-signature", "not in standard, padded base64"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good(t)
			c.Headers = test.headers
			r := c.Diagnose()
			for _, check := range r.Checks {
				if check.Name == test.check && (check.OK || !strings.Contains(check.Text, test.text)) {
					t.Errorf("%s: %s", check.Name, check.Text)
				}
			}
			if r.Verifies {
				t.Error("it verifies")
			}
		})
	}
}

func TestBody(t *testing.T) {
	for name, test := range map[string]struct{ body, text string }{
		"a line end":           {sent + "\n", "at its end that was not sent"},
		"CRLF":                 {sent + "\r\n", "at its end that was not sent"},
		"spaces around":        {"  " + sent + "\n", "around it"},
		"a byte order mark":    {bom + sent, "byte order mark"},
		"a NUL":                {sent + "\x00", "NUL"},
		"pretty":               {strings.NewReplacer(`{"`, "{\n  \"", `":`, `": `, `,"`, ",\n  \"", "}", "\n}").Replace(sent), "with spaces"},
		"spaces like Python's": {strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(sent), "with spaces"},
		"escapes like Go's":    {strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(sent), "with other escapes"},
		"escapes like PHP's":   {strings.ReplaceAll(sent, "ü", `\u00fc`), "with other escapes"},
		"escaped for HTML":     {strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(sent), "escaped for HTML"},
		"encoded twice":        {strconv.Quote(sent), "encoded twice"},
		"Latin-1":              {strings.ReplaceAll(sent, "ü", "Ã¼"), "Latin-1"},
		"another":              {strings.ReplaceAll(sent, "48213", "48214"), "No signature fits. The secret is another one"},
		"nothing":              {"", "No signature fits. The secret is another one"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good(t)
			c.Body = []byte(test.body)
			if f := failing(t, c.Diagnose()); f.Name != "match" || !strings.Contains(f.Text, test.text) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestLineEnds(t *testing.T) {
	c := good(t)
	c.Body, c.Headers = []byte("a\nb"), lines(id, unix(noon), sign(t, secret, id, noon, "a\r\nb"))
	if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, "were CRLF and are LF") {
		t.Errorf("got %+v", f)
	}
	c.Body, c.Headers = []byte("a\r\nb"), lines(id, unix(noon), sign(t, secret, id, noon, "a\nb"))
	if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, "were LF and are CRLF") {
		t.Errorf("got %+v", f)
	}
	c.Body, c.Headers = []byte("a"), lines(id, unix(noon), sign(t, secret, id, noon, "a\n"))
	if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, "lost the line end") {
		t.Errorf("got %+v", f)
	}
}

func TestSent(t *testing.T) {
	wrong := lines(id, unix(noon), sign(t, secret, id, noon.Add(time.Second), sent))
	for name, test := range map[string]struct{ headers, body, text string }{
		"changed":           {"", strings.ReplaceAll(sent, "48213", "48214"), "is not the one that was sent. They differ from byte "},
		"parsed, reordered": {"", `{"timestamp":"2026-10-06T12:00:00.000Z","data":{"size":48213,"name":"plan für <2027> & more.pdf"},"type":"file.uploaded"}`, "in another order"},
		"a line end":        {"", sent + "\n", "at its end that was not sent"},
		"other timestamp":   {wrong, sent, "the webhook-timestamp or the signature is not from the same request"},
		"both":              {wrong, sent + "x", "No signature fits, and the body is not the one that was sent"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good(t)
			if c.Sent, c.Body = []byte(sent), []byte(test.body); test.headers != "" {
				c.Headers = test.headers
			}
			if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, test.text) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestSigning(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	if err != nil {
		t.Fatal(err)
	}
	by := func(key []byte, parts ...string) string {
		return lines(id, unix(noon), "v1,"+base64.StdEncoding.EncodeToString(sumOf(key, parts)))
	}
	for text, headers := range map[string]string{
		"without decoding its base64":         by([]byte(secret[len("whsec_"):]), id, unix(noon), sent),
		"with its whsec_":                     by([]byte(secret), id, unix(noon), sent),
		"without the webhook-id and":          by(key, sent),
		"without the webhook-id before":       by(key, unix(noon), sent),
		"without the webhook-timestamp":       by(key, id, sent),
		"put before the webhook-id":           by(key, unix(noon), id, sent),
		"of the endpoint whe_other":           lines(id, unix(noon), sign(t, other, id, noon, sent)),
		"No signature fits. The secret is an": by([]byte("another"), id, unix(noon), sent),
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
