package listen

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/signature"
)

const (
	hookSecret    = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM=" // the example's
	anotherSecret = "whsec_bmV2ZXItdXNlZC1lbHNld2hlcmUtYnl0ZXM="
)

// listenProcess starts `teamdata listen` on a free port and waits until it is
// ready. Its CA is one of its own, unless the flags say otherwise.
func listenProcess(t *testing.T, flags ...string) *program.Process {
	t.Helper()
	return startListening(t, exec.Command(program.Binary(t), listenArgs(t, flags)...))
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
func startListening(t *testing.T, cmd *exec.Cmd) *program.Process {
	t.Helper()
	p := program.Begin(t, cmd)
	p.AwaitReady(readyFile(cmd))
	return p
}

func readyFile(cmd *exec.Cmd) string { return cmd.Args[slices.Index(cmd.Args, "--ready-file")+1] }

// secretFile is a file with secrets, one a line.
func secretFile(t *testing.T, secrets ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook.secret")
	kit.WriteFile(t, path, strings.Join(secrets, "\n")+"\n")
	return path
}

// send sends an event as an endpoint does, and returns the status it was
// answered with.
func send(p *program.Process, id, secret string) (status int, err error) {
	const body = `{"type":"member.added","data":{"userId":"usr_ada"}}`
	key, err := signature.ParseSecret(secret)
	if err != nil {
		return 0, err
	}
	q, err := http.NewRequest(http.MethodPost, p.URL, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	now := time.Now().Unix()
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("webhook-id", id)
	q.Header.Set("webhook-timestamp", fmt.Sprint(now))
	q.Header.Set("webhook-signature", string(signature.Sign(nil, id, now, []byte(body), key)))
	answer, err := p.Client.Do(q)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func mustSend(p *program.Process, id, secret string, want int) {
	p.T.Helper()
	if status, err := send(p, id, secret); err != nil || status != want {
		p.T.Errorf("%s was answered %d (%v), not %d\n%s", id, status, err, want, p.Out)
	}
}
