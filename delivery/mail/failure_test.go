package mail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"teamdata/e2e/kit"
)

func answer(code int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
}

// Each failure is one line with its true reason, and is permanent or not.
func TestRefusals(t *testing.T) {
	t.Parallel()
	both := []string{sasl.Plain, sasl.Login}
	for name, test := range map[string]struct {
		box       mailbox
		url       string
		want      string
		permanent bool
	}{
		"451 at RCPT": {mailbox{refuse: map[string]error{"RCPT": answer(451, "greylisted")}}, "smtp://HOST", "4.1.1 greylisted", false},
		"550 at RCPT": {mailbox{refuse: map[string]error{"RCPT": answer(550, "no such user")}}, "smtp://HOST", "5.1.1 no such user", true},
		"451 at DATA": {mailbox{refuse: map[string]error{"DATA": answer(451, "disk full")}}, "smtp://HOST", "4.1.1 disk full", false},
		"many lines":  {mailbox{refuse: map[string]error{"RCPT": answer(550, "no\nsuch\n\n user")}}, "smtp://HOST", "no", true},
		"the sender":  {mailbox{refuse: map[string]error{"MAIL": answer(550, "not your name")}}, "smtp://HOST", "5.1.1 not your name", false},

		"wrong password, PLAIN":   {mailbox{mechanisms: both}, "smtp://alerts%40example.com:wr0ng@HOST", "5.7.8 Authentication failed", false},
		"wrong password, LOGIN":   {mailbox{mechanisms: both[1:], implicit: true}, "smtps://u:wr0ng@HOST", "5.7.8 Authentication failed", false},
		"no AUTH":                 {mailbox{}, "smtp://u:wr0ng@HOST", "server does not support SMTP AUTH", false},
		"no STARTTLS, a password": {mailbox{plain: true, mechanisms: both}, "smtp://u:wr0ng@HOST", "it offers no STARTTLS", false},
		"no AUTH, implicit TLS":   {mailbox{implicit: true}, "smtps://u:wr0ng@HOST", "server does not support SMTP AUTH", false},
		"TLS 1.1 alone":           {mailbox{oldTLS: true}, "smtp://HOST", "protocol version", false},
		"another's certificate":   {mailbox{listen: "127.0.0.2:0"}, "smtp://HOST", "TLS: x509: certificate is valid for 127.0.0.1, ::1, not 127.0.0.2", false},
		"STARTTLS, not TLS":       {mailbox{}, "smtps://HOST", "TLS", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := test.box.open(t)
			s := newSender(t, strings.Replace(test.url, "HOST", box.addr.String(), 1))
			checkFailure(t, s.Send(t.Context(), message()), test.want, test.permanent)
			if len(box.received) > 0 {
				t.Error("sent nevertheless")
			}
		})
	}
}

// A mail is given up for what is its recipient's, its size's or its text's. What the
// settings can cause is tried again: people repair those.
func TestFinal(t *testing.T) {
	t.Parallel()
	for answer, final := range map[string]bool{
		"550 no such user":                    true,
		"550 5.1.1 no such user":              true,
		"550-5.1.1 no such\r\n550 5.1.1 user": true,
		"553 5.1.3 bad syntax":                true,
		"550 5.2.1 disabled":                  true,
		"552 5.2.2 over quota":                true,
		"552 5.3.4 too big":                   true,
		"554 5.6.1 not supported":             true,
		"550 5.4.1 access denied":             true,
		"550 5.7.1 not allowed":               false,
		"550 5.7.26 no SPF":                   false,
		"554 5.7.1 relay denied":              false,
		"554 relay denied":                    false,
		"553 sender not allowed":              false,
		"553 5.1.8 sender's domain":           false,
		"550 5.1.7 sender":                    false,
		"554 5.5.4 no, not 550 5.1.1 here":    false,
		"552 5.3.1 system full":               false,
		"504 5.5.2 a full name":               false,
		"504 parameter":                       false,
		"530 5.7.0 log in first":              false,
		"530 log in first":                    false,
		"535 5.7.8 log in":                    false,
		"500 what?":                           false,
		"450 5.1.1 later":                     false,
	} {
		for _, command := range []string{"RCPT", "DATA", "."} {
			server := (&script{answers: map[string]string{command: answer}}).open(t)
			err := newSender(t, "smtp://"+server.addr.String()).Send(t.Context(), message())
			if err == nil || Permanent(err) != final {
				t.Errorf("%q to %q: %v, given up: %t", answer, command, err, Permanent(err))
			}
		}
	}
}

func checkFailure(t *testing.T, err error, want string, permanent bool) {
	t.Helper()
	if err == nil {
		t.Fatal("sent, want a failure")
	}
	text := err.Error()
	if !strings.HasPrefix(text, "mail server ") || !strings.Contains(text, want) || Permanent(fmt.Errorf("x: %w", err)) != permanent {
		t.Errorf("%q, permanent %v; want %q, %v", text, Permanent(err), want, permanent)
	}
	for _, not := range []string{"\n", "wr0ng", "d3Iwbmc", "Acme", "member.added"} {
		if strings.Contains(text, not) {
			t.Errorf("%q holds %q", text, not)
		}
	}
}

func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	for _, implicit := range []bool{false, true} {
		box := (&mailbox{implicit: implicit}).open(t)
		scheme := map[bool]string{false: "smtp://", true: "smtps://"}[implicit]
		s, err := New(Config{URL: scheme + box.addr.String(), From: "a@b.example", SettingsURL: "https://x.example"})
		kit.Must(t, err)
		checkFailure(t, s.Send(t.Context(), message()), "TLS: x509: certificate signed by unknown authority", false)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	address := kit.Reserved(t)
	err := newSender(t, "smtp://"+address).Send(t.Context(), message())
	checkFailure(t, err, address+": connection refused", false)
}
