package mail

import (
	"bytes"
	"crypto/fips140"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"

	"teamdata/e2e/kit"
)

var createdAt = time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)

func message() Message {
	return Message{
		ID: "mai_01K60865992206906030338374", To: "zoe@example.org", Name: "Zoë Ångström",
		Template: "endpointDisabled", CreatedAt: createdAt,
		Values: map[string]string{
			"orgName": "Acme", "endpointId": "whe_1", "endpointUrl": "https://hooks.acme.example/in",
			"deliveryId": "whd_1", "eventType": "member.added", "attempts": "6",
			"lastAttemptAt": "2026-11-21T12:00:05.250Z",
			"lastReason":    "the receiver answered 500 Internal Server Error",
		},
	}
}

func newSender(t testing.TB, url string) *Sender {
	t.Helper()
	_, roots := identity()
	s, err := New(Config{
		URL: url, From: "Teamdata Ålerts <alerts@example.com>",
		SettingsURL: "https://teamdata.example.com/settings?a=1&b=2", RootCAs: roots, Timeout: 10 * time.Second,
	})
	kit.Must(t, err)
	return s
}

func TestSend(t *testing.T) {
	t.Parallel()
	all := []string{sasl.Login, sasl.Plain, "CRAM-MD5"}
	strongest := "CRAM-MD5"
	if fips140.Enforced() {
		strongest = sasl.Plain
	}
	for name, test := range map[string]struct {
		box  mailbox
		url  string // HOST is host and port
		want envelope
	}{
		"STARTTLS, AUTH PLAIN":       {mailbox{mechanisms: all[:2]}, "smtp://" + userinfo + "HOST", envelope{mechanism: "PLAIN", tls: true}},
		"STARTTLS, AUTH LOGIN":       {mailbox{mechanisms: all[:1]}, "smtp://" + userinfo + "HOST", envelope{mechanism: "LOGIN", tls: true}},
		"STARTTLS, the strongest":    {mailbox{mechanisms: all}, "smtp://" + userinfo + "HOST", envelope{mechanism: strongest, tls: true}},
		"STARTTLS, no AUTH":          {mailbox{}, "smtp://HOST", envelope{tls: true}},
		"implicit TLS, AUTH PLAIN":   {mailbox{implicit: true, mechanisms: all[:2]}, "smtps://" + userinfo + "HOST", envelope{mechanism: "PLAIN", tls: true}},
		"implicit TLS, AUTH LOGIN":   {mailbox{implicit: true, mechanisms: all[:1]}, "smtps://" + userinfo + "HOST", envelope{mechanism: "LOGIN", tls: true}},
		"implicit TLS, no AUTH":      {mailbox{implicit: true}, "smtps://HOST", envelope{tls: true}},
		"implicit TLS over IPv6":     {mailbox{implicit: true, listen: "[::1]:0"}, "smtps://HOST", envelope{tls: true}},
		"STARTTLS over IPv6":         {mailbox{listen: "[::1]:0"}, "smtp://HOST", envelope{tls: true}},
		"loopback without TLS":       {mailbox{plain: true}, "smtp://HOST", envelope{}},
		"AUTH offered and no user":   {mailbox{mechanisms: all}, "smtp://HOST", envelope{tls: true}},
		"loopback over IPv6, no TLS": {mailbox{plain: true, listen: "[::1]:0"}, "smtp://HOST", envelope{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := test.box.open(t)
			kit.Must(t, newSender(t, strings.Replace(test.url, "HOST", box.addr.String(), 1)).Send(t.Context(), message()))
			got := <-box.received
			parse(t, got.text)
			got.text = nil
			test.want.from, test.want.to = "alerts@example.com", "zoe@example.org"
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A domain goes out in ASCII, which every server takes. What stands before it may need
// SMTPUTF8, and nothing else asks for it.
func TestSMTPUTF8(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"zoe@ångström.example": "zoe@xn--ngstrm-hua5l.example",
		"Zoe@ÅNGSTRÖM.example": "Zoe@xn--ngstrm-hua5l.example",
		"zoë@ångström.example": "zoë@xn--ngstrm-hua5l.example",
	} {
		box := (&mailbox{}).open(t)
		m := message()
		m.To = to
		s := newSender(t, "smtp://"+box.addr.String())
		var err error
		s.from, err = parseSender("Älerts <alerts@bücher.example>")
		kit.Must(t, err)
		kit.Must(t, s.Send(t.Context(), m))
		got := <-box.received
		if got.to != want || got.utf8 == isASCII(want) || got.from != "alerts@xn--bcher-kva.example" {
			t.Errorf("sent to %q from %q, SMTPUTF8 %v", got.to, got.from, got.utf8)
		}
		if to := parse(t, got.text).to; to.Address != want || to.Name != m.Name {
			t.Errorf("To is %v", to)
		}
	}
}

// parsed is a mail as its reader's program sees it.
type parsed struct {
	header              netmail.Header
	subject, text, html string
	from, to            *netmail.Address
}

func parse(t testing.TB, raw []byte) (p parsed) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v in\n%s", err, raw)
		}
	}
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	must(err)
	p.header = m.Header
	p.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	must(err)
	p.from, err = netmail.ParseAddress(m.Header.Get("From"))
	must(err)
	p.to, err = netmail.ParseAddress(m.Header.Get("To"))
	must(err)
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	must(err)
	if kind != "multipart/alternative" {
		t.Errorf("Content-Type %q", kind)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	p.text = part(t, parts, "text/plain; charset=UTF-8")
	p.html = part(t, parts, "text/html; charset=UTF-8")
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("after both parts: %v", err)
	}
	return p
}

func part(t testing.TB, parts *multipart.Reader, kind string) string {
	t.Helper()
	p, err := parts.NextPart()
	kit.Must(t, err)
	if got := p.Header.Get("Content-Type"); got != kind {
		t.Errorf("a part of %q, want %q", got, kind)
	}
	text, err := io.ReadAll(p)
	kit.Must(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
