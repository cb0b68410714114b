package mail

import (
	"bytes"
	"html"
	"maps"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// headers are all headers of a mail.
var headers = []string{
	"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To", "X-Mailer",
}

func checkHeaders(t testing.TB, p parsed) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(p.header)); !slices.Equal(got, headers) {
		t.Errorf("headers %q", got)
	}
	for key, values := range p.header {
		if len(values) != 1 {
			t.Errorf("%s is there %d times", key, len(values))
		}
	}
}

// write returns m as it goes over the wire.
func write(t testing.TB, m Message) []byte {
	t.Helper()
	msg, err := newSender(t, "smtps://smtp.example.com").compose(m)
	kit.Must(t, err)
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMessage(t *testing.T) {
	t.Parallel()
	p := parse(t, write(t, message()))
	checkHeaders(t, p)
	for key, want := range map[string]string{
		"Auto-Submitted": "auto-generated",
		"Date":           "Sat, 21 Nov 2026 12:00:30 +0000",
		"Message-Id":     "<mai_01K60865992206906030338374@example.com>",
		"X-Mailer":       "teamdata",
	} {
		if got := p.header.Get(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if *p.from != (netmail.Address{Name: "Teamdata Ålerts", Address: "alerts@example.com"}) {
		t.Errorf("From %v", p.from)
	}
	if *p.to != (netmail.Address{Name: "Zoë Ångström", Address: "zoe@example.org"}) {
		t.Errorf("To %v", p.to)
	}
	if want := "Webhook endpoint of Acme was disabled: https://hooks.acme.example/in"; p.subject != want {
		t.Errorf("Subject %q, want %q", p.subject, want)
	}
	tags := strings.NewReplacer("<code>", "", "</code>", "")
	for _, body := range []string{p.text, html.UnescapeString(tags.Replace(p.html))} {
		for _, want := range []string{
			"https://hooks.acme.example/in", "whe_1", "settings of Acme:", "owner or admin of Acme",
			"Delivery whd_1 of event type member.added used its last attempt (6 of 6) on 21 November 2026, 12:00:05 UTC.",
			"the receiver answered 500 Internal Server Error", "https://teamdata.example.com/settings?a=1&b=2",
		} {
			if !strings.Contains(body, want) {
				t.Errorf("no %q in\n%s", want, body)
			}
		}
	}
	if strings.Contains(p.html, "src=") || strings.Contains(p.html, "url(") {
		t.Errorf("something is loaded from elsewhere:\n%s", p.html)
	}
}

func TestInjection(t *testing.T) {
	t.Parallel()
	const evil = "Acme\r\nBcc: eve@example.org\r\n\r\n<script>alert(1)</script>\u202e =?utf-8?q?x=0ABcc:_y?="
	const tame = "Acme Bcc: eve@example.org <script>alert(1)</script> "
	m := message()
	m.Name = evil
	for _, key := range []string{"orgName", "endpointUrl", "lastReason"} {
		m.Values[key] = evil
	}
	box := (&mailbox{}).open(t)
	kit.Must(t, newSender(t, "smtp://"+box.addr.String()).Send(t.Context(), m))
	got := <-box.received
	p := parse(t, got.text)
	checkHeaders(t, p)
	if got.to != m.To || p.to.Address != m.To || p.to.Name != tame+"= ?utf-8?q?x=0ABcc:_y?=" {
		t.Errorf("To %q", p.to)
	}
	if want := "Webhook endpoint of Acme Bcc: eve@example.org <script>alert… was disabled: Acme Bcc: "; !strings.HasPrefix(p.subject, want) {
		t.Errorf("Subject %q", p.subject)
	}
	if strings.Contains(p.html, "<script") || !strings.Contains(p.html, "&lt;script&gt;") {
		t.Errorf("not escaped:\n%s", p.html)
	}
	if !strings.Contains(p.text, "\n"+tame+"=?utf-8?q?x=0ABcc:_y?=\n") {
		t.Errorf("text is\n%s", p.text)
	}
}

// Spaces, however many, must not fold a header into an empty line.
func TestLongHeaders(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{" ", "a", "ab ", "é", "😀", "\t", "\" ", "\\", "\u2028", ", "} {
		m := message()
		m.Name = strings.Repeat(unit, 2000)
		m.Values["orgName"], m.Values["endpointUrl"] = m.Name, m.Name
		raw := write(t, m)
		checkHeaders(t, parse(t, raw))
		for line := range bytes.Lines(raw) {
			if len(line) > 200 {
				t.Errorf("%q makes a line of %d bytes", unit, len(line))
			}
		}
	}
}

func TestUnsendable(t *testing.T) {
	t.Parallel()
	s := newSender(t, "smtps://smtp.example.com")
	bad := map[string]func(*Message){
		"unknown template": func(m *Message) { m.Template = "newsletter" },
		"no template":      func(m *Message) { m.Template = "" },
		"no ID":            func(m *Message) { m.ID = "" },
		"ID with a header": func(m *Message) { m.ID = "a\r\nBcc: b" },
		"ID ends with dot": func(m *Message) { m.ID = "a." },
		"no values":        func(m *Message) { m.Values = nil },
	}
	for _, to := range []string{
		"", "zoe", "zoe@", "@example.org", "zoe @example.org", "Zoë <zoe@example.org>", "<zoe@example.org>",
		"zoe@example.org, eve@example.org", "zoe@example.org\r\nBcc: eve@example.org", `"z o"@example.org`,
		"zoe\u2028@example.org", strings.Repeat("z", 243) + "@example.org",
	} {
		bad["to "+to] = func(m *Message) { m.To = to }
	}
	for key := range message().Values {
		bad["no "+key] = func(m *Message) { delete(m.Values, key) }
	}
	for name, change := range bad {
		m := message()
		change(&m)
		err := s.Send(t.Context(), m)
		if err == nil || !Permanent(err) || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%s: %v, permanent %v", name, err, Permanent(err))
		}
	}
}

// Whatever the values, the result is one mail with the expected headers, and it
// contains the values.
func FuzzMessage(f *testing.F) {
	f.Add("Acme", "Zoë Ångström", "https://a.example", "500")
	f.Add("A\r\nBcc: b@c.example", "\"<b@c.example>", "javascript:x", "<b>&amp;+")
	f.Add(strings.Repeat(" a", 99), "=?utf-8?q?a?=", "\x00\xff\u202e", ".\r\n.\r\n")
	tags := strings.Count(parse(f, write(f, message())).html, "<")
	f.Fuzz(func(t *testing.T, org, name, url, why string) {
		m := message()
		m.Name = name
		m.Values["orgName"], m.Values["endpointUrl"], m.Values["lastReason"] = org, url, why
		p := parse(t, write(t, m))
		checkHeaders(t, p)
		want, err := render(m.Template, m.Values, "https://teamdata.example.com/settings?a=1&b=2")
		kit.Must(t, err)
		if p.subject != want.subject || p.text != want.text || p.html != want.html {
			t.Errorf("got %q\n%s\n%s\nwant %q\n%s\n%s", p.subject, p.text, p.html, want.subject, want.text, want.html)
		}
		if p.to.Name != personName(name) || p.to.Address != m.To {
			t.Errorf("To %q, from the name %q", p.to, name)
		}
		if strings.Count(p.html, "<") != tags || !strings.Contains(html.UnescapeString(p.html), oneLine(why)) {
			t.Errorf("%q is not escaped:\n%s", why, p.html)
		}
	})
}

func TestNotPulledMessage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, pulledAt, subject, last string }{
		{"The warehouse", "2026-11-20T07:30:00.000Z", "The warehouse", "A consumer last pulled on 20 November 2026, 07:30:00 UTC."},
		{"whe_1", "", "whe_1", "No consumer has ever pulled from the endpoint."},
	} {
		m := message()
		m.Template = "notPulled"
		m.Values = map[string]string{
			"orgName": "Acme", "endpointId": "whe_1", "endpointName": test.name, "waitingSince": "2026-11-20T23:00:00.000Z", "pulledAt": test.pulledAt,
		}
		p := parse(t, write(t, m))
		if want := "Events of Acme wait to be pulled: " + test.subject; p.subject != want {
			t.Errorf("Subject %q, want %q", p.subject, want)
		}
		for _, body := range []string{p.text, html.UnescapeString(p.html)} {
			for _, want := range []string{
				test.name, "waiting since 20 November 2026, 23:00:00 UTC. " + test.last, "settings of Acme:", "owner or admin of Acme", "https://teamdata.example.com/settings?a=1&b=2",
			} {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in\n%s", want, body)
				}
			}
			if n := strings.Count(body, "whe_1"); n != 1 {
				t.Errorf("the id is there %d times in\n%s", n, body)
			}
		}
	}
}

func TestCertificateMessage(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"the authority did not answer": "the authority did not answer",
		"":                             "Certificates that you provide are not renewed",
	} {
		m := message()
		m.Template = "certificateExpiring"
		m.Values = map[string]string{"certificate": "data.example.com", "expiresAt": "2026-12-06T12:00:00.000Z", "lastReason": reason}
		p := parse(t, write(t, m))
		if want := "Certificate data.example.com expires on 6 December 2026, 12:00:00 UTC"; p.subject != want {
			t.Errorf("Subject %q, want %q", p.subject, want)
		}
		for _, body := range []string{p.text, p.html} {
			if !strings.Contains(body, "data.example.com") || !strings.Contains(body, "6 December 2026") || !strings.Contains(body, want) {
				t.Errorf("no %q in\n%s", want, body)
			}
		}
	}
}

func TestClientCertificateMessage(t *testing.T) {
	t.Parallel()
	m := message()
	m.Template = "clientCertificateExpiring"
	m.Values = map[string]string{"orgName": "Acme", "endpointId": "whe_1", "endpointName": "The warehouse", "endpointUrl": "https://acme.example/?a=1&b=2", "expiresAt": "2026-12-06T12:00:00.000Z"}
	p := parse(t, write(t, m))
	if want := "Client certificate for The warehouse expires on 6 December 2026, 12:00:00 UTC"; p.subject != want {
		t.Errorf("Subject %q, want %q", p.subject, want)
	}
	for _, body := range []string{p.text, html.UnescapeString(p.html)} {
		for _, want := range []string{"The warehouse", "whe_1", "https://acme.example/?a=1&b=2", "6 December 2026", "owner or admin of Acme", "https://teamdata.example.com/settings?a=1&b=2"} {
			if !strings.Contains(body, want) {
				t.Errorf("no %q in\n%s", want, body)
			}
		}
	}
}

func TestSignInLinkMessage(t *testing.T) {
	t.Parallel()
	m := message()
	m.Template = "signInLink"
	m.Values = map[string]string{"orgName": "Acme", "userId": "usr_ada", "until": "2026-12-06T12:00:00.000Z", "token": "sil_1.s3cret"}
	p := parse(t, write(t, m))
	if want := "Your sign-in link for the settings of Acme"; p.subject != want {
		t.Errorf("Subject %q, want %q", p.subject, want)
	}
	for _, body := range []string{p.text, p.html} {
		for _, want := range []string{"usr_ada", "/link/sil_1.s3cret", "until 6 December 2026, 12:00:00 UTC", "Acme"} {
			if !strings.Contains(body, want) {
				t.Errorf("no %q in\n%s", want, body)
			}
		}
	}
}
