package page_test

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// product is a site of somebody else, whose page shows the settings in a frame. Its
// host differs from the server's, so for a browser it is another site.
type product struct {
	*httptest.Server
	base   string
	framed atomic.Pointer[string] // the address in the frame
}

func newProduct(t *testing.T) *product {
	t.Helper()
	p := &product{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>Product</title><iframe title="Webhooks" src="%s" width="1200" height="700"></iframe>`, html.EscapeString(*p.framed.Load()))
	}))
	t.Cleanup(p.Close)
	_, port, err := net.SplitHostPort(p.Listener.Addr().String())
	kit.Must(t, err)
	p.base = "https://127.0.0.1:" + port
	return p
}

// frame is the page in the frame of the tab's page.
func (b *tab) frame(base string) *tab {
	b.t.Helper()
	f := &tab{Process: b.Process, t: b.t, base: base}
	b.await("the frame", func() bool {
		targets, err := chromedp.Targets(b.ctx)
		kit.Must(b.t, err)
		for _, target := range targets {
			if target.Type == "iframe" && strings.HasPrefix(target.URL, base) {
				ctx, end := chromedp.NewContext(b.ctx, chromedp.WithTargetID(target.TargetID), chromedp.WithDetachOnCancel())
				b.t.Cleanup(end)
				f.ctx = ctx
				return true
			}
		}
		return false
	})
	return f
}

// press presses a button or follows a link in a frame, for which there is no mouse.
func (b *tab) press(label string) {
	b.t.Helper()
	b.leave("behind "+label, func() {
		ok, _ := evaluate[bool](b, `(label) => {
			const found = [...document.querySelectorAll("a[href], button")].find((el) => el.textContent.trim() === label);
			found?.click();
			return Boolean(found);
		}`, label)
		if !ok {
			b.t.Fatalf("there is no %s in\n%s", label, b.text())
		}
	})
}

// A product shows the settings in a frame: a portal link signs in there with one button,
// a viewer finds no form, and outside of the frame nobody is signed in. A site that is
// not allowed shows nothing.
func TestSettingsPortalInAFrame(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	allowed, stranger := newProduct(t), newProduct(t)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p, base := serveSettings(t, data, "--seed", kit.NewFile(t, "seed.json", storySeed), "--frame-ancestors", allowed.base, "--brand-name", "Acme Hooks", "--brand-colour", "#ffcc00")
	link := func() string {
		t.Helper()
		out, err := exec.Command(program.Binary(t), "portal-link", "usr_guest", "--org", "org_acme", "--name", "Gil Guest", "--data", data).Output()
		kit.Must(t, err)
		return strings.TrimSpace(string(out))
	}
	ctx := startChromium(t, keyHash(p), keyHashOf(allowed.Certificate())) // the stranger's is the same
	b := &tab{Process: p, t: t, ctx: ctx, base: allowed.base}
	address := link()
	allowed.framed.Store(&address)
	b.open("/")
	f := b.frame(base)
	f.sees("Gil Guest")
	f.press("Continue")
	f.sees("Overview")
	f.press("Webhooks")
	f.sees("Acme Hooks")
	if text := f.text(); !strings.Contains(text, "Gil Guest") {
		t.Errorf("the frame shows\n%s", text)
	}
	forms, _ := evaluate[[]string](f, `() => [...document.querySelectorAll("form[method=post]")].map((form) => form.getAttribute("action"))`)
	for _, action := range forms {
		if action != "/settings/sign-out" && action != "/settings/account/theme" {
			t.Errorf("a viewer has the form %s", action)
		}
	}
	if len(forms) == 0 {
		t.Error("the frame has no form to sign out")
	}
	status, _ := evaluate[int](f, `async () => (await fetch("/settings/orgs/org_acme/new-endpoint", { method: "POST", headers: { "Teamdata-Framed": "yes" }, body: new URLSearchParams({ url: "https://x.example/", events: "*" }) })).status`)
	if status != http.StatusForbidden {
		t.Errorf("a viewer's form was answered with %d", status)
	}

	outside := &tab{Process: p, t: t, ctx: ctx, base: base}
	outside.open(acme)
	outside.sees("Sign in")

	another := link()
	stranger.framed.Store(&another)
	refused, told := &tab{Process: p, t: t, ctx: ctx, base: stranger.base}, make(chan string, 1)
	err := chromedp.Listen(ctx, func(event any) {
		e, ok := event.(*log.EventEntryAdded)
		if ok && strings.Contains(e.Entry.Text, "frame-ancestors") {
			select {
			case told <- e.Entry.Text:
			default:
			}
		}
	})
	kit.Must(t, err)
	send(refused, log.Enable, cdp.Empty{})
	refused.open("/")
	refused.await("the refusal of the frame", func() bool { return len(told) > 0 })
}
