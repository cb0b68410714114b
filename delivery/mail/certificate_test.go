package mail

import (
	"strings"
	"testing"
)

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
