package mail

import (
	"strings"
	"testing"
)

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
