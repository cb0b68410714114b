package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// What each page shows without a click, in a month of data.
func TestSettingsShows(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	file, cookie := settingsFile(t)
	p, base := serveSettings(t, file)
	b := openTab(t, p, base, "--data", file)
	b.signIn(cookie)
	b.visitFirst()
	b.emulate("light", 1280, 1)
	for _, c := range []struct {
		name  string
		check func(*tab)
	}{
		{"why an endpoint fails", (*tab).checkFailing},
		{"deliveries in the order of the times shown", (*tab).checkOrder},
		{"a delivery by its id", (*tab).checkFound},
		{"a time in Tokyo", (*tab).checkZone},
		{"times within sentences", (*tab).checkSentences},
		{"event types", (*tab).checkEventTypes},
		{"rows", (*tab).checkRows},
		{"titles", (*tab).checkTitles},
		{"print", (*tab).checkPrint},
		{"a page that is not there", (*tab).checkNowhere},
		{"the error summary", (*tab).checkSummary},
		{"files", (*tab).checkFiles},
		{"fields", (*tab).checkFields},
		{"dialogs", (*tab).checkDialog},
		{"a delivery as curl", (*tab).checkCurl},
		{"dates of long ago", (*tab).checkDates},
		{"reasons", (*tab).checkReasons},
		{"the reference", (*tab).checkDocs},
	} {
		t.Run(c.name, func(t *testing.T) {
			was, wasOf := b.t, p.T
			b.t, p.T = t, t
			defer func() { b.t, p.T = was, wasOf }()
			c.check(b)
		})
	}
}

// visitFirst holds the first visit, which finds nothing in the cache, to a few requests.
func (b *tab) visitFirst() {
	b.t.Helper()
	b.open(acme)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t.Logf("the first visit: %d requests, %.1f KB", b.requests, b.received/1000)
	if b.requests > 4 || b.received > 60_000 {
		b.t.Errorf("a first visit takes %d requests and %.1f KB, which may be 4 and 60", b.requests, b.received/1000)
	}
}

const (
	failing    = acme + "/endpoints/whe_fail"
	deliveries = acme + "/endpoints/whe_slow/deliveries"
)

func (b *tab) checkFailing() {
	b.open(failing)
	if text := b.text(); !strings.Contains(text, "500") || !strings.Contains(text, "invoices_2026") {
		b.t.Errorf("the last reason is not there:\n%s", text)
	}
	if n := b.count(`main svg[role="img"], main figure svg`); n == 0 {
		b.t.Error("there is no chart")
	}
	if n := b.count(`main a[href*="/deliveries/whd_"]`); n == 0 {
		b.t.Error("no link leads to a delivery")
	}
}

// checkOrder: the last time of a row is that of the last attempt.
func (b *tab) checkOrder() {
	for _, path := range []string{deliveries, deliveries + "?state=waiting", acme + "/endpoints/whe_good/deliveries"} {
		b.open(path)
		times, _ := evaluate[[]string](b, `() => [...document.querySelectorAll("main table tbody tr")].flatMap((r) => [...r.querySelectorAll("time")].at(-1)?.dateTime ?? [])`)
		descending := slices.IsSortedFunc(times, func(x, y string) int { return strings.Compare(y, x) })
		if len(times) == 0 || !descending {
			b.t.Errorf("%s shows %v", path, times)
		}
	}
}

func (b *tab) checkFound() {
	b.open(deliveries)
	link := b.firstDelivery()
	id := link[strings.LastIndex(link, "/")+1:]
	b.open(deliveries + "?q=" + id)
	if got := b.firstDelivery(); b.count("main table tbody tr") != 1 || got != link {
		b.t.Errorf("?q=%s shows %s first of\n%s", id, got, b.text())
	}
}

// checkZone pastes the time of a row, as people far from UTC read it, into both fields.
func (b *tab) checkZone() {
	send(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"})
	defer send(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	b.open(deliveries)
	b.open(deliveries) // with the zone's cookie
	link := b.firstDelivery()
	if !strings.Contains(b.text(), "Asia/Tokyo") {
		b.t.Error("the zone is not named")
	}
	b.leave("behind the filter", func() {
		evaluate[any](b, `(link) => {
			const shown = [...document.querySelector("main a[href='" + link + "']").closest("tr").querySelectorAll("time")].at(-1);
			const form = document.querySelector("main form[method=get]:has([name=since])");
			form.querySelector("[name=since]").value = shown.innerText.trim();
			form.querySelector("[name=until]").value = shown.innerText.trim();
			form.submit();
		}`, link)
	})
	if got := b.firstDelivery(); got != link {
		b.t.Errorf("between the time of %s there is %q:\n%s", link, got, b.text())
	}
}

// checkSentences: times within sentences are the same from the script, in a page that came in
// another zone, as from the server.
func (b *tab) checkSentences() {
	send(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/St_Johns"})
	defer send(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	const times = `() => [...document.querySelectorAll('main time:is([data-as="at"], [data-as="minute"])')].map((el) => el.textContent)`
	b.teamdata("endpoint", "create", "--id", "whe_nowhere", "--url", "https://nowhere.invalid/", "--events", "invoice.paid")
	b.teamdata("endpoint", "test", "whe_nowhere")
	b.await("the failure", func() bool {
		b.open(acme + "/endpoints/whe_nowhere")
		return strings.Contains(b.text(), "Failing since about")
	})
	for _, endpoint := range []string{"whe_dead", "whe_fail", "whe_nowhere"} {
		evaluate[any](b, `() => { document.cookie = "tz=; Path=/settings; Max-Age=0; Secure"; }`)
		b.open(acme + "/endpoints/" + endpoint)
		ours, _ := evaluate[[]string](b, times)
		b.open(acme + "/endpoints/" + endpoint)
		theirs, _ := evaluate[[]string](b, times)
		b.t.Logf("%s shows %q", endpoint, ours)
		if len(ours) == 0 || !slices.Equal(ours, theirs) {
			b.t.Errorf("%s: the script shows %q, the server %q", endpoint, ours, theirs)
		}
	}
}

// checkEventTypes: what is included in a group that is ticked, or in all events, is quiet, and
// what is beside it stays as it is.
func (b *tab) checkEventTypes() {
	quiet := func() string {
		names, _ := evaluate[[]string](b, `() => {
			const muted = getComputedStyle(document.querySelector(".type-list .hint")).color;
			return [...document.querySelectorAll(".type-list .types code")].filter((el) => getComputedStyle(el).color === muted).map((el) => el.innerText);
		}`)
		return strings.Join(names, " ")
	}
	b.open(acme + "/new-endpoint")
	for _, step := range []struct{ tick, want string }{
		{"file.uploaded", ""},
		{"Members", "member.added member.changed member.removed"},
		{"All events", "member.added member.changed member.removed subscription.changed file.uploaded assistant.instructionsChanged invoice.paid"},
	} {
		b.tick(step.tick)
		if got := quiet(); got != step.want {
			b.t.Errorf("with %s ticked %q are quiet", step.tick, got)
		}
	}
}

// checkRows counts what is whole on the screen of a laptop.
func (b *tab) checkRows() {
	for path, want := range map[string]int{"/keys": 12, "/endpoints/whe_slow/deliveries": 12, "/audit-log": 12, "/members": 9, "/endpoints": 9} {
		b.open(acme + path)
		got, _ := evaluate[int](b, `() => [...document.querySelectorAll("main table tbody tr")].filter((r) => r.getBoundingClientRect().bottom <= innerHeight).length`)
		b.t.Logf("%s shows %d rows", path, got)
		if got < want {
			b.t.Errorf("%s shows %d rows at 1280×800, not %d", path, got, want)
		}
	}
}

func (b *tab) checkTitles() {
	b.open(acme + "/endpoints/whe_good")
	good := b.title()
	b.open(acme + "/endpoints/whe_idle")
	if idle := b.title(); idle == good {
		b.t.Errorf("two endpoints have the title %q", good)
	}
}

func (b *tab) checkPrint() {
	b.open(deliveries)
	send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	defer send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	const shown = `() => [...document.querySelectorAll("button, input, select, textarea, nav")].filter((el) => el.checkVisibility({ visibilityProperty: true })).map((el) => el.outerHTML.slice(0, 120))`
	if got, _ := evaluate[[]string](b, shown); len(got) > 0 {
		b.t.Errorf("printed are also %v", got)
	}
	if b.count("main table tbody tr") == 0 {
		b.t.Error("there are no rows to print")
	}
}

func (b *tab) checkNowhere() {
	for _, path := range []string{acme + "/nowhere", acme + "/endpoints/whe_none", acme + "/keys/key_none"} {
		b.open(path)
		if b.count(`nav a[href="`+acme+`/endpoints"]`) == 0 {
			b.t.Errorf("%s has no navigation:\n%s", path, b.text())
		}
	}
}

func (b *tab) checkSummary() {
	b.open(acme + "/new-endpoint")
	b.submit(map[string]any{"url": "http://x.example/", "secret": "mine"})
	b.await("the focus on what is wrong", func() bool {
		focused, _ := evaluate[string](b, `() => document.activeElement === document.body ? "" : document.activeElement.innerText`)
		return strings.Contains(strings.ToLower(focused), "https")
	})
	if !strings.HasPrefix(b.title(), "Error: ") {
		b.t.Errorf("the title is %q", b.title())
	}
}

// count is how many elements of the page a selector selects.
func (b *tab) count(selector string) int {
	n, _ := evaluate[int](b, `(selector) => document.querySelectorAll(selector).length`, selector)
	return n
}

func (b *tab) title() string {
	title, _ := evaluate[string](b, `() => document.title`)
	return title
}

// firstDelivery is the path of the first delivery in the page's list.
func (b *tab) firstDelivery() string {
	path, _ := evaluate[string](b, `() => document.querySelector("main table tbody a[href*='/deliveries/whd_']")?.getAttribute("href") ?? ""`)
	return path
}

// checkFiles: a file that is chosen is saved. If the form is shown again, it asks for the file
// again, with the focus on what is wrong.
func (b *tab) checkFiles() {
	const settings = acme + "/endpoints/whe_idle/settings"
	chain, _ := issued(b.t, "receivers.acme.example", "Acme Root", time.Now().Add(400*24*time.Hour))
	choose := func(rate string) {
		b.fill("Rate", rate)
		kit.Must(b.t, chromedp.Do(b.ctx, chromedp.SetUploadFiles("#ca", []string{kit.NewFile(b.t, "ca.pem", chain)})))
		b.follow("Save changes")
	}
	b.open(settings)
	choose("ten")
	b.await("the focus on what is wrong", func() bool {
		focused, _ := evaluate[string](b, `() => document.activeElement.innerText`)
		return strings.Contains(focused, "CA was not kept; choose the file again.")
	})
	choose("")
	b.sees("receivers.acme.example and 1 more")
}
