package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is the one tab of a real Chromium, at a server's settings page. It finds
// things as people do, by what is written on them, and waits for what the page
// shows.
type tab struct {
	*process // which is looked at
	t        testing.TB
	ctx      context.Context
	base     string // the server's public URL
	data     string // its data file

	mu         sync.Mutex
	complaints []string // errors in the console, and requests to elsewhere
}

// openTab starts Chromium with an empty profile. It trusts the certificate of the
// server, and of nobody else.
func openTab(t *testing.T, p *process, base, data string) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		mustSkip(t, "there is no Chromium; on Debian: apt-get install chromium")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-US"),
		chromedp.Flag("ignore-certificate-errors-spki-list", p.keyHash()),
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root can't have
	}
	limited, stop := context.WithTimeout(context.Background(), 8*time.Minute)
	allocator, end := chromedp.NewExecAllocator(limited, options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() { closeTab(); end(); stop() })
	b := &tab{process: p, t: t, ctx: ctx, base: base, data: data}
	b.listen()
	return b
}

// keyHash is the hash of the public key of the server's certificate.
func (p *process) keyHash() string {
	p.t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), p.transport().TLSClientConfig)
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close()
	sum := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// listen notes what no page of ours may do. An answer that is an error, which the
// console tells too, may be what a test wants.
func (b *tab) listen() {
	err := chromedp.Listen(b.ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
				b.complain(e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			b.complain(e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description)
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; strings.HasPrefix(u, "http") && !strings.HasPrefix(u, b.base+"/") {
				b.complain("asked elsewhere: " + u)
			}
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	send(b, log.Enable, cdp.Empty{})
	send(b, network.Enable, network.EnableParams{})
	b.t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, text := range b.complaints {
			b.t.Errorf("the browser complains: %s", text)
		}
	})
}

func (b *tab) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// send sends a command of the DevTools protocol.
func send[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, command, params)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// evaluate calls a function of JavaScript in the page, whether or not that may run
// scripts of its own. It is false while there is no page, between two of them.
func evaluate[T any](b *tab, function string, args ...any) (T, bool) {
	quoted, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf("(%s)(...(%s ?? []))", function, quoted), chromedp.EvalAwaitPromise))
	return v, err == nil
}

// open opens a page by its path, and waits until all of it is there.
func (b *tab) open(path string) {
	b.t.Helper()
	b.leave("at "+path, func() {
		if err := chromedp.Do(b.ctx, chromedp.Navigate(b.base+path)); err != nil {
			b.t.Fatal(err)
		}
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
	const place = `(label) => {
		const shown = [...document.querySelectorAll("a[href], button, summary, label")].filter((el) => el.getClientRects().length);
		const text = (el) => el.innerText.trim().replace(/\s+/g, " ");
		const found = shown.find((el) => text(el) === label) ?? shown.find((el) => text(el).startsWith(label + " "));
		if (!found) return null;
		found.scrollIntoView({ block: "center", behavior: "instant" });
		const r = found.getClientRects()[0];
		return [r.x + Math.min(r.width / 2, 20), r.y + r.height / 2];
	}`
	var at []float64
	b.await("the link or button "+label, func() bool {
		at, _ = evaluate[[]float64](b, place, label)
		return len(at) == 2
	})
	if err := chromedp.Do(b.ctx, chromedp.MouseClickXY(at[0], at[1])); err != nil {
		b.t.Fatal(err)
	}
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
	b.process.await(what, done)
	came = true
}

// path is that of the page, with its query.
func (b *tab) path() string {
	address, _ := evaluate[string](b, `() => location.href`)
	return strings.TrimPrefix(address, b.base)
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
