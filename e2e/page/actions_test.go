package page_test

import (
	"slices"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"teamdata/e2e/kit"
)

// open opens a page by its path, and waits until all of it is there.
func (b *tab) open(path string) {
	b.t.Helper()
	b.leave("at "+path, func() {
		kit.Must(b.t, chromedp.Do(b.ctx, chromedp.Navigate(b.base+path)))
	})
}

// leave does what leads to another page, and waits until all of it is there.
func (b *tab) leave(what string, do func()) {
	b.t.Helper()
	before := b.document()
	do()
	b.await("the page "+what, func() bool {
		now := b.document()
		return now != "" && now != before
	})
}

// document tells one page that was loaded from another; empty while it loads.
func (b *tab) document() string {
	now, _ := evaluate[string](b, `() => document.readyState === "complete" ? String(performance.timeOrigin) : ""`)
	return now
}

// follow clicks what leads to another page.
func (b *tab) follow(label string) {
	b.t.Helper()
	b.leave("behind "+label, func() { b.click(label) })
}

// click presses a link, a button or a label, with the mouse.
func (b *tab) click(label string) {
	b.t.Helper()
	b.pressOn("the link or button "+label, `(label) => {
		const shown = [...document.querySelectorAll("a[href], button, summary, label")].filter((el) => el.getClientRects().length);
		const text = (el) => el.innerText.trim().replace(/\s+/g, " ");
		return shown.find((el) => text(el) === label) ?? shown.find((el) => text(el).startsWith(label + " "));
	}`, label)
}

// pressOn presses what a function of JavaScript finds, with the mouse.
func (b *tab) pressOn(what, find string, args ...any) {
	b.t.Helper()
	place := `(...args) => {
		if (document.activeViewTransition) return null; // which takes clicks until it has ended
		const found = (` + find + `)(...args);
		if (!found) return null;
		found.scrollIntoView({ block: "center", behavior: "instant" });
		const r = found.getClientRects()[0];
		const at = [r.x + Math.min(r.width / 2, 20), r.y + r.height / 2];
		return found.contains(document.elementFromPoint(...at)) ? at : null;
	}`
	var at, before []float64 // where it stays, since a font that comes late moves it
	b.await(what, func() bool {
		before = at
		at, _ = evaluate[[]float64](b, place, args...)
		return len(at) == 2 && slices.Equal(at, before)
	})
	b.clicks++
	kit.Must(b.t, chromedp.Do(b.ctx, chromedp.MouseClickXY(at[0], at[1])))
}

// fill types a text into the field with a label, over what is there.
func (b *tab) fill(label, text string) {
	b.t.Helper()
	b.await("the field "+label, func() bool {
		ok, _ := evaluate[bool](b, `(label) => {
			const found = [...document.querySelectorAll("label")].find((el) => el.innerText.trim().startsWith(label));
			found?.control?.focus();
			found?.control?.select?.();
			return document.activeElement === found?.control;
		}`, label)
		return ok
	})
	send(b, input.InsertText, input.InsertTextParams{Text: text})
}

// enter presses the key that sends the form in whose field the caret is.
func (b *tab) enter() {
	b.t.Helper()
	b.leave("behind the form", func() {
		p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}
		send(b, input.DispatchKeyEvent, p)
	})
}

// sees waits until the page shows a text.
func (b *tab) sees(text string) {
	b.t.Helper()
	b.await("the text "+text, func() bool { return strings.Contains(b.text(), text) })
}

// text is what the page shows.
func (b *tab) text() string {
	text, _ := evaluate[string](b, `() => document.body.innerText`)
	return text
}

// await is the process's, and says what the page shows when it gives up.
func (b *tab) await(what string, done func() bool) {
	b.t.Helper()
	came := false
	defer func() {
		if !came {
			b.t.Logf("%s shows:\n%s", b.path(), b.text())
		}
	}()
	b.Process.Await(what, done)
	came = true
}

// path is that of the page, with its query.
func (b *tab) path() string {
	address, _ := evaluate[string](b, `() => location.href`)
	return strings.TrimPrefix(address, b.base)
}

// signOut opens the person's menu, which takes no script of the page, and signs out.
func (b *tab) signOut() {
	b.t.Helper()
	evaluate[any](b, `() => document.getElementById("me").showPopover()`)
	b.follow("Sign out")
}

// noScripts makes Chromium run no script of a page, as if it could not.
func (b *tab) noScripts() {
	send(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// signIn gives the tab the cookie of a session.
func (b *tab) signIn(cookie string) {
	b.t.Helper()
	yes := true
	send(b, network.SetCookie, network.SetCookieParams{Name: "__Host-teamdata", Value: cookie, URL: b.base, Path: "/", Secure: &yes, HTTPOnly: &yes})
}

// addAuthenticator gives the tab a device that keeps passkeys, whose owner is
// always there and always known.
func (b *tab) addAuthenticator() {
	b.t.Helper()
	send(b, webauthn.Enable, webauthn.EnableParams{})
	send(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
}
