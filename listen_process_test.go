package main

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/internal/signature"
)

const (
	hookSecret    = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM=" // the example's
	anotherSecret = "whsec_bmV2ZXItdXNlZC1lbHNld2hlcmUtYnl0ZXM="
)

// listenProcess starts `teamdata listen` on a free port and waits until it is
// ready. Its CA is one of its own, unless the flags say otherwise.
func listenProcess(t *testing.T, flags ...string) *process {
	t.Helper()
	return startListening(t, exec.Command(binary, listenArgs(t, flags)...))
}

func listenArgs(t *testing.T, flags []string) []string {
	args := append([]string{"listen", "--listen", "127.0.0.1:0", "--ready-file", filepath.Join(t.TempDir(), "ready.json")}, flags...)
	if !slices.ContainsFunc(flags, func(flag string) bool { return flag == "--http" || flag == "--tls-cert" || flag == "--tls-dir" }) {
		args = append(args, "--tls-dir", filepath.Join(t.TempDir(), "tls"))
	}
	return args
}

// startListening starts a command that listenArgs made, and waits until it is
// ready.
func startListening(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := begin(t, cmd)
	p.awaitReady(readyFile(cmd))
	return p
}

func readyFile(cmd *exec.Cmd) string { return cmd.Args[slices.Index(cmd.Args, "--ready-file")+1] }

// begin starts a command. What has no place to be written to goes to the
// process's output.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, out: newOutput(), cmd: cmd}
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if *stream == nil {
			*stream = p.out
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// secretFile is a file with secrets, one a line.
func secretFile(t *testing.T, secrets ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook.secret")
	writeFile(t, path, strings.Join(secrets, "\n")+"\n")
	return path
}

// send sends an event as an endpoint does, and returns the status it was
// answered with.
func (p *process) send(id, secret string) (status int, err error) {
	const body = `{"type":"member.added","data":{"userId":"usr_ada"}}`
	key, err := signature.ParseSecret(secret)
	if err != nil {
		return 0, err
	}
	q, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	now := time.Now().Unix()
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("webhook-id", id)
	q.Header.Set("webhook-timestamp", fmt.Sprint(now))
	q.Header.Set("webhook-signature", string(signature.Sign(nil, id, now, []byte(body), key)))
	answer, err := p.client.Do(q)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func (p *process) mustSend(id, secret string, want int) {
	p.t.Helper()
	if status, err := p.send(id, secret); err != nil || status != want {
		p.t.Errorf("%s was answered %d (%v), not %d\n%s", id, status, err, want, p.out)
	}
}

// says waits for words.
func (p *process) says(words string) {
	p.t.Helper()
	p.await(words, func() bool { return strings.Contains(p.out.String(), words) })
}
