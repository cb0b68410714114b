package page_test

import (
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// What a page says stays true while it is open: it goes on while it is seen, waits while
// it is hidden, and no notice denies what has happened since.
func TestSettingsLive(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	h := newStoryReceiver(t)
	b := openStory(t, "--retry-schedule", "250ms,250ms", "--allow-endpoint-cidr", "127.0.0.1/32", "--webhook-ca", h.caFile)
	b.signInFirst()
	b.addEndpoint(h)
	endpoint, _, _ := strings.Cut(b.path(), "?")

	b.follow("Send test")
	b.sees("Queued.")
	came, delivery := b.document(), b.path()
	b.hide(true)
	close(h.gate)
	b.await("the acknowledgement, and time in which a page that is seen would show it", func() bool {
		return strings.Contains(b.fetched(), "Acknowledged") && b.hiddenFor() > 2000
	})
	if !strings.Contains(b.text(), "Queued.") {
		b.t.Errorf("a hidden page goes on:\n%s", b.text())
	}
	b.hide(false)
	b.sees("Acknowledged at")
	for _, wrong := range []string{"Queued", "Pending", "on its way", "in a moment", "Retry now"} {
		if strings.Contains(b.text(), wrong) {
			b.t.Errorf("beside the acknowledgement the page says %q:\n%s", wrong, b.text())
		}
	}
	if b.document() != came {
		b.t.Error("the page was loaded again")
	}

	// The endpoint's page sees a failure of a test that was sent elsewhere, and enables.
	b.open(endpoint)
	came = b.document()
	h.failing.Store(true)
	evaluate[any](b, `async () => {
		const form = document.querySelector("form[action$='/test']");
		await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
	}`)
	b.sees("Disabled automatically")
	if b.document() != came {
		b.t.Error("the page was loaded again")
	}
	b.follow("Enable")
	b.sees("The endpoint is enabled.")
	b.sees("webhook.test")
	if strings.Contains(b.text(), "Disabled automatically") {
		b.t.Errorf("it is said to be disabled:\n%s", b.text())
	}
	if b.open(delivery); strings.Contains(b.text(), "Queued") {
		b.t.Errorf("the first delivery is said to wait:\n%s", b.text())
	}
}

// hide has the page believe that its tab is hidden, or seen.
func (b *tab) hide(yes bool) {
	evaluate[any](b, `(yes) => {
		Object.defineProperty(document, "hidden", { configurable: true, get: () => yes });
		globalThis.hiddenAt = performance.now();
		document.dispatchEvent(new Event("visibilitychange"));
	}`, yes)
}

// hiddenFor is for how many milliseconds it has been so.
func (b *tab) hiddenFor() float64 {
	ms, _ := evaluate[float64](b, `() => performance.now() - globalThis.hiddenAt`)
	return ms
}

// fetched is what the server would show by now.
func (b *tab) fetched() string {
	body, _ := evaluate[string](b, `async () => (await fetch(document.querySelector("[data-live]").dataset.live)).text()`)
	return body
}
