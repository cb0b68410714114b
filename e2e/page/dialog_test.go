package page_test

import (
	"regexp"

	"github.com/chromedp/cdproto/input"
)

// checkDialog: what can't be undone, or stops something, asks in a dialog with the number that
// it concerns. Cancel has the focus, and Escape closes it.
func (b *tab) checkDialog() {
	for _, c := range []struct{ path, opens, wants string }{
		{acme + "/endpoints/whe_slow/settings", "Disable…", `\d waiting deliver(y|ies) will be held\.`},
		{acme + "/endpoints/whe_slow/settings", "Delete…", `\d waiting deliver(y|ies) will never be sent\.`},
		{acme + "/members/usr_000", "Remove…", "API keys? that they created will be revoked permanently."},
		{"/settings/account", "Remove", "You still have 1 other passkey"},
		{acme + "/instructions", "Clear…", "are cleared"},
	} {
		b.open(c.path)
		before := b.document()
		b.click(c.opens)
		b.await("the dialog of "+c.opens, func() bool { return b.count("dialog[open]") == 1 })
		shown, _ := evaluate[[]string](b, `() => [document.querySelector("dialog[open]").innerText.replace(/\s+/g, " "), document.activeElement.innerText, getComputedStyle(document.querySelector("dialog[open]")).width]`)
		if !regexp.MustCompile(c.wants).MatchString(shown[0]) || shown[1] != "Cancel" || shown[2] != "448px" {
			b.t.Errorf("%s at %s shows %q", c.opens, c.path, shown)
		}
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			send(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27})
		}
		b.await("the dialog closed", func() bool { return b.count("dialog[open]") == 0 })
		if b.document() != before {
			b.t.Errorf("%s leads to %s", c.opens, b.path())
		}
	}
}

// checkCurl: the command of a delivery is copied at once. Its button is above it, at the end.
func (b *tab) checkCurl() {
	b.open(deliveries)
	b.open(b.firstDelivery())
	b.click("Copy as curl")
	b.sees("Copied")
	at, _ := evaluate[[]float64](b, `() => ["#curl .copy", "#curl pre"].map((s) => document.querySelector(s).getBoundingClientRect()).flatMap((r) => [r.right, r.bottom, r.top])`)
	if fromRight := at[3] - at[0]; fromRight < 0 || fromRight > 12 || at[1] > at[5] {
		b.t.Errorf("the button and the command are at %v", at)
	}
}

// checkDates: a date of long ago fits its column.
func (b *tab) checkDates() {
	b.open(acme)
	wide, _ := evaluate[int](b, `() => {
		const cells = [...document.querySelectorAll("main .rows time")].map((time) => { time.textContent = "28 Nov 2026"; return time.closest("td"); });
		return cells.length === 0 ? -1 : cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length;
	}`)
	if wide != 0 {
		b.t.Errorf("%d dates leave their column", wide)
	}
}

// checkReasons: on a small laptop, why something failed has room on the overview.
func (b *tab) checkReasons() {
	b.emulate("light", 1100, 1)
	defer b.emulate("light", 1280, 1)
	b.open(acme)
	wide, _ := evaluate[[]float64](b, `() => ["section:has(#failures) .rows .third", "figure.chart"].map((s) => document.querySelector(s).getBoundingClientRect().width)`)
	if len(wide) != 2 || wide[0] < 300 || wide[1] > 400 {
		b.t.Errorf("the reason and a chart are %v pixels wide", wide)
	}
}
