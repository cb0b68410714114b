package page_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
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
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// tab is the one tab of a real Chromium, at a server's settings page. It finds
// things as people do, by what is written on them, and waits for what the page
// shows.
type tab struct {
	*program.Process // which is looked at
	t                testing.TB
	ctx              context.Context
	base             string   // the server's public URL
	on               []string // the flags with which commands find it
	clicks           int

	mu         sync.Mutex
	complaints []string          // errors in the console, and requests to elsewhere
	request    network.RequestID // of the page
	requests   int               // that were sent
	received   float64           // bytes of answers, as they came over the line
}

// openTab starts Chromium with an empty profile. It trusts the certificate of the
// server, and of nobody else.
func openTab(t *testing.T, p *program.Process, base string, on ...string) *tab {
	t.Helper()
	b := &tab{Process: p, t: t, ctx: startChromium(t, keyHash(p)), base: base, on: on}
	b.listen()
	return b
}

// startChromium starts Chromium with an empty profile and one tab. It trusts the
// certificates with these public keys.
func startChromium(t *testing.T, keyHashes ...string) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		kit.MustSkip(t, "there is no Chromium; on Debian: apt-get install chromium")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-US"), chromedp.WindowSize(1280, 800),
		chromedp.Flag("ignore-certificate-errors-spki-list", strings.Join(keyHashes, ",")),
	}
	if !kit.AtSize() {
		options = append(options, chromedp.Flag("force-prefers-reduced-motion", true)) // a processor would draw each frame
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root can't have
	}
	limited, stop := context.WithTimeout(context.Background(), 8*time.Minute)
	allocator, end := chromedp.NewExecAllocator(limited, options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() { closeTab(); end(); stop() })
	return ctx
}

// keyHash is the hash of the public key of the server's certificate.
func keyHash(p *program.Process) string {
	p.T.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), p.Transport().TLSClientConfig)
	kit.Must(p.T, err)
	defer conn.Close()
	return keyHashOf(conn.ConnectionState().PeerCertificates[0])
}

func keyHashOf(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
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
		case *network.EventLoadingFinished:
			b.mu.Lock()
			b.received += e.EncodedDataLength
			b.mu.Unlock()
		case *network.EventRequestWillBeSent:
			b.mu.Lock()
			if e.Type != network.ResourceTypeFetch { // with which a page that stays open looks for news
				b.requests++
			}
			if e.Type == network.ResourceTypeDocument {
				b.request = e.RequestID
			}
			b.mu.Unlock()
			if u := e.Request.URL; strings.HasPrefix(u, "http") && !strings.HasPrefix(u, b.base+"/") {
				b.complain("asked elsewhere: " + u)
			}
		}
	})
	kit.Must(b.t, err)
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
	kit.Must(b.t, err)
	return r
}

// evaluate calls a function of JavaScript in the page, whether or not that may run
// scripts of its own. It is false while there is no page, between two of them.
func evaluate[T any](b *tab, function string, args ...any) (T, bool) {
	quoted, err := json.Marshal(args)
	kit.Must(b.t, err)
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf("(%s)(...(%s ?? []))", function, quoted), chromedp.EvalAwaitPromise))
	return v, err == nil
}
