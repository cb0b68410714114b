package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The story of a team's first day in a browser: from the first link to an endpoint
// that was disabled and repaired, and a key that was used and revoked. Without
// JavaScript it is the same, but for looking again, and so it is on a database.
func TestSettingsStory(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	ways := map[string]func(*testing.T, ...string) *tab{"scripts": openStory, "no scripts": openStory, "database": openStoryOnDatabase}
	for name, open := range ways {
		scripts := name != "no scripts"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newStoryReceiver(t)
			b := open(t, "--retry-schedule", "250ms,250ms", "--allow-endpoint-cidr", "127.0.0.1/32", "--webhook-ca", h.caFile)
			if !scripts {
				b.noScripts()
			}
			send(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kathmandu"}) // +05:45
			b.signInFirst()
			b.addEndpoint(h)
			b.watchTest(h, scripts)
			b.breakAndRepair(h, scripts)
			b.useAndRevokeKey(scripts)
			b.signOut()
			b.sees("You are signed out.")
		})
	}
}

// signInFirst is the way in from the link that the operator makes.
func (b *tab) signInFirst() {
	b.t.Helper()
	b.open(b.link("usr_ada"))
	b.fill("New password", storyPassword)
	b.follow("Set password and sign in")
	b.sees("Your password is set, and you are signed in.")
}

// link is the path of a sign-in link, as the operator makes it.
func (b *tab) link(user string) string {
	b.t.Helper()
	out := program.MustRun(b.t, append([]string{"signin-link", user, "--org", "org_acme"}, b.on...)...)
	return program.LinkPath(out)
}

func (b *tab) addEndpoint(h *storyReceiver) {
	b.t.Helper()
	b.follow("Webhooks")
	b.follow("Add endpoint")
	b.fill("URL", h.URL+"/hook")
	b.click("member.added")
	b.click("Use my own")
	b.fill("Your own secret", storySecret)
	b.follow("Add endpoint")
	b.sees("was added")
	b.follow("To the endpoint")
}

// watchTest sends a test, and sees it arrive on the page that is there already.
func (b *tab) watchTest(h *storyReceiver, live bool) {
	b.t.Helper()
	b.follow("Send test")
	b.sees("Queued.")
	came := b.document()
	close(h.gate)
	b.awaitState("Acknowledged", live)
	if live && b.document() != came {
		b.t.Error("the page was loaded again")
	}
	b.readTime(live)
}

// readTime reads the first time on the page: in the reader's zone, or else in UTC.
func (b *tab) readTime(local bool) {
	b.t.Helper()
	got, _ := evaluate[[]string](b, `() => { const el = document.querySelector("time"); return [el.textContent, el.dateTime]; }`)
	at, err := time.Parse(time.RFC3339, got[1])
	kit.Must(b.t, err)
	zone := time.UTC
	if local {
		zone = time.FixedZone("Asia/Kathmandu", 5*60*60+45*60)
	}
	if want := at.In(zone).Format(time.TimeOnly); !strings.HasSuffix(got[0], want) { // before which the day may be, if it was yesterday
		b.t.Errorf("%s is shown as %q, not as %q", got[1], got[0], want)
	}
}

// awaitState waits until the delivery's page shows a state.
func (b *tab) awaitState(state string, live bool) {
	b.t.Helper()
	b.await("the state "+state, func() bool {
		if strings.Contains(b.text(), state) {
			return true
		}
		if !live {
			b.follow("Refresh")
		}
		return false
	})
}

// breakAndRepair makes the receiver fail until its endpoint is disabled, then repairs
// both.
func (b *tab) breakAndRepair(h *storyReceiver, live bool) {
	b.t.Helper()
	h.failing.Store(true)
	b.follow(strings.TrimPrefix(h.URL, "https://") + "/hook")
	b.follow("Send test")
	b.awaitState("Failed after", live)
	delivery := b.path()
	if got := b.count("ol.attempts > li"); got != 3 || !strings.Contains(b.text(), "no such table: <events>") {
		b.t.Errorf("%d of 3 attempts, or not their answer:\n%s", got, b.text())
	}
	b.follow(strings.TrimPrefix(h.URL, "https://") + "/hook")
	b.sees("Disabled automatically")
	h.failing.Store(false)
	b.follow("Enable")
	b.sees("The endpoint is enabled.")
	b.follow("Retry 1 failed…")
	b.follow("Retry it")
	b.await("the replayed delivery", func() bool {
		b.open(delivery)
		return strings.Contains(b.text(), ": 204 after")
	})
}

// useAndRevokeKey makes a key, asks the API with it, and revokes it.
func (b *tab) useAndRevokeKey(scripts bool) {
	b.t.Helper()
	b.follow("API keys")
	b.follow("Create key")
	b.fill("Name", "nightly export")
	b.follow("Create key")
	key, _ := evaluate[string](b, `() => document.querySelector("[data-copy]").textContent`)
	if a := b.Must("GET", "/members", key); a.Status != 200 || !strings.Contains(a.Body, "usr_ada") {
		b.t.Errorf("with the key the API answered %d %s", a.Status, a.Body)
	}
	if scripts {
		b.click("Copy")
		b.sees("Copied")
	}
	b.follow("I have copied it")
	if scripts {
		b.click("Revoke…") // which opens a dialog
	} else {
		b.follow("Revoke…")
	}
	b.follow("Revoke key")
	b.sees("The key was revoked.")
	if a := b.Must("GET", "/members", key); a.Status != 401 {
		b.t.Errorf("with the revoked key the API answered %d %s", a.Status, a.Body)
	}
}
