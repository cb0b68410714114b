package page_test

import (
	"testing"

	"teamdata/e2e/kit"

	"github.com/chromedp/cdproto/network"
)

// What was typed before the session ended is in the field after signing in again.
func TestSettingsNoLostText(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	b := openStory(t)
	b.signInFirst()
	b.open(acme + "/new-endpoint")
	const typed = "https://billing.acme.example/a-long-path?that=was&typed=once"
	b.fill("URL", typed)
	send(b, network.DeleteCookies, network.DeleteCookiesParams{Name: "__Host-teamdata", URL: b.base})
	b.follow("Add endpoint")
	b.fill("Sign-in name or e-mail address", "usr_ada")
	b.fill("Password", storyPassword)
	b.follow("Sign in")
	value, _ := evaluate[string](b, `() => document.querySelector("[name=url]")?.value`)
	if value != typed {
		b.t.Errorf("the field has %q on\n%s", value, b.text())
	}
}
