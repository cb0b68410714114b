package page_test

import (
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// How many clicks what people come for takes, from the overview.
func TestSettingsClicks(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	h := newStoryReceiver(t)
	close(h.gate)
	b := openStory(t, "--retry-schedule", "250ms,250ms", "--allow-endpoint-cidr", "127.0.0.1/32", "--webhook-ca", h.caFile)
	b.signInFirst()
	b.within(4, "an endpoint added and its test acknowledged", func() {
		b.follow("Add endpoint")
		b.tick("Use my own")
		b.fill("Your own secret", storySecret)
		b.tick("member.added")
		b.fill("URL", h.URL+"/hook")
		b.enter()
		b.follow("Send test")
		b.sees("Acknowledged")
		b.sees("webhook.test arrived.")
	})
	b.within(3, "a key made and copied", func() {
		b.follow("API keys")
		b.follow("Create key")
		b.fill("Name", "nightly export")
		b.enter()
		b.click("Copy")
		b.sees("Copied")
	})
	host := strings.TrimPrefix(h.URL, "https://")
	b.within(3, "a rate set, by a form that may have files", func() {
		b.follow("Webhooks")
		b.follow(host + "/hook")
		b.follow("Settings")
		b.fill("Rate", "100000")
		b.enter()
		b.sees("The endpoint was updated.")
	})
	b.failTest(h)
	b.within(1, "why an endpoint fails", func() {
		b.follow(host + "/hook")
		b.sees("no such table: <events>")
	})
	b.within(2, "one delivery replayed", func() {
		b.follow("Retry webhook.test")
		b.sees(": 204 after")
	})
	b.failTest(h)
	b.within(3, "all that failed replayed", func() {
		b.follow(host + "/hook")
		b.follow("Retry 1 failed…")
		b.follow("Retry it")
		b.sees("Retry of 1 delivery")
	})
}

// failTest sends a test that fails for good, and repairs the receiver.
func (b *tab) failTest(h *storyReceiver) {
	b.t.Helper()
	h.failing.Store(true)
	b.open(acme + "/endpoints")
	b.follow(strings.TrimPrefix(h.URL, "https://") + "/hook")
	b.follow("Send test")
	b.await("the delivery that failed", func() bool {
		b.open(acme + "/endpoints")
		b.follow(strings.TrimPrefix(h.URL, "https://") + "/hook")
		return strings.Contains(b.text(), "Disabled automatically")
	})
	b.follow("Enable")
	h.failing.Store(false)
}

// within does something from the overview, by a few clicks.
func (b *tab) within(clicks int, what string, do func()) {
	b.t.Helper()
	b.open(acme)
	b.clicks = 0
	do()
	b.t.Logf("%s: %d clicks", what, b.clicks)
	if b.clicks > clicks {
		b.t.Errorf("%s takes %d clicks, not %d", what, b.clicks, clicks)
	}
}

// tick ticks a box from the keyboard.
func (b *tab) tick(label string) {
	b.t.Helper()
	b.await("the box "+label, func() bool {
		ok, _ := evaluate[bool](b, `(label) => {
			const found = [...document.querySelectorAll("label")].find((el) => el.innerText.trim().startsWith(label))?.control;
			if (found && !found.checked) found.click();
			return found?.checked ?? false;
		}`, label)
		return ok
	})
}
