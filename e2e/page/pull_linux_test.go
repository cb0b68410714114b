package page_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
)

// From the overview to an event that a consumer has acknowledged: an endpoint is added, and
// the sample of its page runs as it is pasted into a shell. Without JavaScript it is the same,
// but for copying and for looking again.
func TestSettingsClicksToPull(t *testing.T) {
	kit.OnlyAtSize(t)
	for name, scripts := range map[string]bool{"scripts": true, "no scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openStory(t)
			if !scripts {
				b.noScripts()
			}
			b.signInFirst()
			b.within(5, "an endpoint that is pulled added, and its test acknowledged", func() {
				b.follow("Add endpoint")
				b.click("Let a consumer pull for software that nothing can reach: it asks for its events")
				b.await("a form without a URL", func() bool {
					hidden, _ := evaluate[bool](b, `() => !document.getElementById("url").checkVisibility()`)
					return hidden
				})
				b.click("All events including types added later")
				b.fill("Description", "Loader")
				b.follow("Add endpoint")
				b.sees("Loader was added")
				b.sees("webhook.test waits to be pulled.")
				b.paste(scripts)
				if scripts {
					b.sees("webhook.test arrived. The key Loader acknowledged it")
				} else {
					b.awaitAgain("webhook.test arrived. The key Loader acknowledged it")
				}
			})
			b.follow("To the endpoint")
			b.sees("by the key Loader")
			b.sees("Acknowledged")
			b.open(acme)
			b.sees("p95 latency") // the first hour is over
			b.seesChoice()
		})
	}
}

// seesChoice looks at the form of a key: endpoints to pull from are there for the scope receive,
// and stay while one is chosen, which may be what is wrong.
func (b *tab) seesChoice() {
	b.t.Helper()
	b.open(acme + "/new-key")
	loader, _ := evaluate[string](b, `() => document.querySelector('[name="endpoints"]').value`)
	for query, want := range map[string]bool{"": false, "?scopes=receive": true, "?scopes=read&endpoints=" + loader: true} {
		b.open(acme + "/new-key" + query)
		if got, _ := evaluate[bool](b, `() => document.getElementById("endpoints").checkVisibility()`); got != want {
			b.t.Errorf("new-key%s: the choice of endpoints is visible: %v", query, got)
		}
	}
}

// paste copies the sample for a shell, and runs it until the test ends.
func (b *tab) paste(copies bool) {
	b.t.Helper()
	const sample = `() => [...document.querySelectorAll(".sample")].find((el) => el.checkVisibility()).querySelector("pre").textContent`
	if copies {
		b.pressOn("the button of the sample", `() => [...document.querySelectorAll(".samples .copy")].find((el) => el.checkVisibility())`)
		b.sees("Copied")
	} else {
		b.clicks++ // people mark it
	}
	text, _ := evaluate[string](b, sample)
	b.t.Logf("pasted:\n%s", text)
	shell := exec.Command("sh", "-c", text)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its children
	var out strings.Builder
	shell.Stdout, shell.Stderr = &out, &out
	kit.Must(b.t, shell.Start())
	b.t.Cleanup(func() {
		syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		shell.Wait()
		if got := out.String(); !strings.Contains(got, `\"type\":\"webhook.test\"`) {
			b.t.Errorf("the consumer printed %s", got)
		}
	})
}

// awaitAgain waits for a text on a page that is looked at again and again.
func (b *tab) awaitAgain(text string) {
	b.t.Helper()
	path := b.path()
	if at := b.refreshLink(); at != "" {
		path = at
	}
	b.await("the text "+text, func() bool {
		b.open(path)
		return strings.Contains(b.text(), text)
	})
}

// refreshLink is where a page leads that can't look again by itself; empty: it does not.
func (b *tab) refreshLink() string {
	path, _ := evaluate[string](b, `() => [...document.querySelectorAll("main a")].find((el) => el.innerText === "Refresh")?.getAttribute("href") ?? ""`)
	return path
}
