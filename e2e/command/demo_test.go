//go:build unix

package command

import (
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The demo as a newcomer meets it: each printed command is pasted and works,
// and the receiver prints the event, verified.
func TestDemo(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		kit.MustSkip(t, "curl is not installed")
	}
	first, second := startDemo(t), startDemo(t) // the second finds the port taken
	if first.URL == second.URL {
		t.Fatalf("two demos are at %s", first.URL)
	}
	for _, demo := range []*program.Process{first, second} {
		pasteAll(t, demo)
		opensLink(demo)
		demo.StopWell()
	}
}

func startDemo(t *testing.T) *program.Process {
	t.Helper()
	cmd := exec.Command(program.Binary(t), "serve", "--demo")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := program.Begin(t, cmd)
	p.Says("Webhooks library:")
	if tour := p.Out.String(); strings.Contains(tour, "testdata") {
		t.Errorf("the tour names a file that only the repository has:\n%s", tour)
	}
	p.URL = regexp.MustCompile(`https://\S+/api/v1`).FindString(p.Out.String())
	return p
}

func pasteAll(t *testing.T, demo *program.Process) {
	want := []string{
		`{"data":[{"id":"mem_1",`,
		`{"data":[{"id":"aud_01",`,
		`{"instructions":"Answer in English.`,
		`{"id":"whd_`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[`,
		`"code":"forbidden"`,
	}
	var pasted int
	for _, line := range demo.Out.Lines() {
		if !strings.HasPrefix(line, "  curl ") {
			continue
		}
		out, err := exec.Command("sh", "-c", line).Output()
		if err != nil || pasted < len(want) && !strings.Contains(string(out), want[pasted]) {
			t.Errorf("%s\nprinted %s (%v)", line, out, err)
		}
		pasted++
	}
	if pasted != len(want) {
		t.Errorf("%d commands are printed, not %d", pasted, len(want))
	}
	demo.Await("the verified event", func() bool {
		return regexp.MustCompile(`whd_\w+  verified\n  {\n    "type": "webhook.test"`).MatchString(demo.Out.String())
	})
}

// opensLink opens the link to the settings page that the demo prints, over plain HTTP at a
// name of this machine, and at no other name.
func opensLink(p *program.Process) {
	p.T.Helper()
	link := program.LinkPattern.FindString(p.Out.String())
	base := regexp.MustCompile(`^http://localhost:\d+/`).FindString(link)
	if base == "" || !strings.Contains(p.Out.String(), "  settings   "+base+"settings\n") {
		p.T.Fatalf("the link is %s\n%s", link, p.Out)
	}
	p.Client, p.URL = http.DefaultClient, strings.TrimSuffix(base, "/")
	program.SignInBy(p, link)
	if page := program.Open(p, program.Browser(p), base+"settings/sign-in", nil); !strings.Contains(page, "data-passkey") {
		p.T.Errorf("no passkeys are offered at %s:\n%s", base, page)
	}
	for _, address := range []string{"127.0.0.1", "[::1]"} {
		q, err := http.NewRequest(http.MethodGet, strings.Replace(base, "localhost", address, 1)+"docs", nil)
		kit.Must(p.T, err)
		for host, want := range map[string]int{"localhost": 200, "rebound.example": 421, "127.0.0.1": 421, "localhost.example": 421} {
			q.Host = host
			if a, err := kit.TryFetch(http.DefaultClient, q); err == nil && a.Status != want || err != nil && address == "127.0.0.1" {
				p.T.Errorf("%s at %s is answered %d, not %d: %v", host, address, a.Status, want, err)
			}
		}
	}
}

// No flag of the demo reaches real data.
func TestDemoBringsItsOwnData(t *testing.T) {
	for _, flags := range [][]string{{"--data", "mine.db"}, {"--seed", "mine.json"}} {
		out, err := program.Run(t, append([]string{"serve", "--demo"}, flags...)...)
		if err == nil || !strings.Contains(out, "leave out --data and --seed") {
			t.Errorf("%v: %v, %s", flags, err, out)
		}
	}
}
