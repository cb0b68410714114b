package page_test

import "fmt"

// checkDocs: the reference has the font and the colours of the settings, a side bar of
// 232 pixels, and a way back. On a phone the side bar is a menu that needs no script: a
// link in it leads to its place and closes it.
func (b *tab) checkDocs() {
	defer b.emulate("light", 1280, 1)
	b.open(acme)
	b.follow("Guides and API")
	shown, _ := evaluate[string](b, `async () => {
		await document.fonts.ready;
		const side = document.querySelector(".side"), link = getComputedStyle(document.querySelector(".meta a"));
		return [side.offsetWidth, document.fonts.check("14px Inter"), getComputedStyle(document.body).fontFamily.split(",")[0], link.color].join(" ");
	}`)
	if want := "232 true Inter rgb(36, 89, 181)"; shown != want {
		b.t.Errorf("the reference has %q, not %q", shown, want)
	}
	b.follow("Back to settings")

	b.emulate("light", 375, 1)
	b.open("/docs")
	menu := func(open bool) {
		b.t.Helper()
		b.await(fmt.Sprint("a menu that is open: ", open), func() bool {
			now, _ := evaluate[bool](b, `() => document.querySelector(".side").getClientRects().length > 0`)
			return now == open
		})
	}
	menu(false)
	b.click("Menu")
	menu(true)
	b.click("GET List members")
	menu(false)
	if at, _ := evaluate[float64](b, `() => document.getElementById("listMembers").getBoundingClientRect().top`); at < 0 || at > 400 {
		b.t.Errorf("the operation is %v pixels down", at)
	}
	evaluate[any](b, `() => scrollTo(0, 0)`)
	b.click("Menu")
	b.click("Close the menu")
	menu(false)
}
