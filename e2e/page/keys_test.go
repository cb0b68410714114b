package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"teamdata/e2e/kit"
)

// Single keys lead to pages, to the search and through the rows of a list, and ? shows all of
// them. They do nothing in a field, nor once they are turned off.
func TestSettingsKeys(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	file, cookie := settingsFile(t)
	p, base := serveSettings(t, file)
	b := openTab(t, p, base)
	b.signIn(cookie)
	b.open(acme)
	for keys, path := range map[string]string{"gw": "/endpoints", "gd": "/deliveries", "gk": "/keys", "ga": "/audit-log", "go": ""} {
		b.leave("to which "+keys+" leads", func() { b.types(keys) })
		if b.path() != acme+path {
			t.Errorf("%s leads to %s", keys, b.path())
		}
	}

	b.open(acme + "/deliveries")
	b.types("/")
	b.focuses(`[name="q"]`)
	b.types("?gwx")
	if value, _ := evaluate[string](b, `() => document.activeElement.value`); value != "?gwx" || b.path() != acme+"/deliveries" || b.keysShown() {
		t.Errorf("what was typed in a field is %q, at %s", value, b.path())
	}

	b.open(acme + "/deliveries")
	b.types("jjjk")
	b.focuses("tbody tr:nth-child(2) .first a")
	b.types("x")
	b.ticked(1)
	b.types("X")
	b.ticked(50)
	b.types("X")
	b.ticked(0)
	evaluate[any](b, `() => document.querySelector(".pick > .all").click()`)
	b.ticked(50)
	b.click("Clear")
	b.ticked(0)
	b.types("j")
	link, _ := evaluate[string](b, `() => document.activeElement.getAttribute("href")`)
	b.leave("behind a row", b.pressEnter)
	if !strings.HasPrefix(link, acme+"/deliveries/whd_") || b.path() != link {
		t.Errorf("Enter at %s leads to %s", link, b.path())
	}

	b.types("?")
	b.await("the sheet", b.keysShown)
	b.types("gw") // behind the sheet
	b.click("Single keys work in this browser")
	b.click("Close")
	b.await("the page behind the sheet", func() bool { return !b.keysShown() })
	for range 2 {
		b.types("?gw")
		if b.keysShown() || b.path() != link {
			t.Error("keys that are turned off still work")
		}
		b.open(b.path())
	}
	evaluate[any](b, `() => document.getElementById("me").showPopover()`)
	b.click("Keyboard")
	b.await("the sheet", b.keysShown)
	b.click("Single keys work in this browser")
	b.click("Close")
	b.types("?")
	b.await("the sheet", b.keysShown)
}

// types presses keys, one after the other, each with the character that it writes.
func (b *tab) types(keys string) {
	b.t.Helper()
	for _, key := range keys {
		p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(key), Text: string(key)}
		send(b, input.DispatchKeyEvent, p)
		p.Type, p.Text = input.DispatchKeyEventTypeKeyUp, ""
		send(b, input.DispatchKeyEvent, p)
	}
}

// pressEnter presses the key that follows a link.
func (b *tab) pressEnter() {
	p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}
	send(b, input.DispatchKeyEvent, p)
}

// focuses waits until what a selector finds has the focus.
func (b *tab) focuses(selector string) {
	b.t.Helper()
	b.await("the focus at "+selector, func() bool {
		there, _ := evaluate[bool](b, `(selector) => document.activeElement?.matches(selector)`, selector)
		return there
	})
}

// ticked waits until so many rows are ticked, as the bar below them says, and the box above
// them agrees.
func (b *tab) ticked(n int) {
	b.t.Helper()
	b.await("the ticked rows", func() bool {
		ok, _ := evaluate[bool](b, `(n) => {
			const boxes = [...document.querySelectorAll('tbody input[name="id"]')];
			const all = document.querySelector(".pick > .all");
			const bar = document.querySelector(".bulk").getClientRects().length > 0;
			return boxes.filter((box) => box.checked).length === n && bar === n > 0 && all.checked === (n === boxes.length) && all.indeterminate === (n > 0 && n < boxes.length);
		}`, n)
		return ok
	})
}

// keysShown reports whether the sheet with the keys is open.
func (b *tab) keysShown() bool {
	shown, _ := evaluate[bool](b, `() => document.querySelector("#keys").open`)
	return shown
}
