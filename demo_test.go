package main

import (
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// The demo as a newcomer meets it: each printed command is pasted and works,
// and the receiver prints the event, verified.
func TestDemo(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		mustSkip(t, "curl is not installed")
	}
	first, second := startDemo(t), startDemo(t) // the second finds the port taken
	if first.url == second.url {
		t.Fatalf("two demos are at %s", first.url)
	}
	for _, demo := range []*process{first, second} {
		pasteAll(t, demo)
		demo.opensLink()
		if err := demo.stop(); err != nil {
			t.Errorf("the demo ended with %v\n%s", err, demo.out)
		}
	}
}

func startDemo(t *testing.T) *process {
	t.Helper()
	p := &process{t: t, out: newOutput(), cmd: exec.Command(binary, "serve", "--demo")}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	p.await("the tour", func() bool { return strings.Contains(p.out.String(), "Webhooks library:") })
	p.url = regexp.MustCompile(`https://\S+/api/v1`).FindString(p.out.String())
	return p
}

func pasteAll(t *testing.T, demo *process) {
	want := []string{
		`{"data":[{"id":"mem_1",`,
		`{"data":[{"id":"aud_01",`,
		`{"instructions":"Answer in English.`,
		`{"id":"whd_`,
		`"code":"forbidden"`,
	}
	var pasted int
	for _, line := range demo.out.lines() {
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
	demo.await("the verified event", func() bool {
		return regexp.MustCompile(`whd_\w+  verified\n  {\n    "type": "webhook.test"`).MatchString(demo.out.String())
	})
}

// opensLink opens the link to the settings page that the demo prints.
func (p *process) opensLink() {
	p.t.Helper()
	p.caFile = regexp.MustCompile(`--cacert (\S+)`).FindStringSubmatch(p.out.String())[1]
	p.client, p.url = &http.Client{Transport: p.transport()}, strings.TrimSuffix(p.url, "/api/v1")
	p.signsInBy(linkPattern.FindString(p.out.String()))
}

// No flag of the demo reaches real data.
func TestDemoBringsItsOwnData(t *testing.T) {
	for _, flags := range [][]string{{"--data", "mine.db"}, {"--seed", "mine.json"}} {
		out, err := run(t, append([]string{"serve", "--demo"}, flags...)...)
		if err == nil || !strings.Contains(out, "leave out --data and --seed") {
			t.Errorf("%v: %v, %s", flags, err, out)
		}
	}
}
