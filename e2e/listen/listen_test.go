package listen

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/localca"
)

// With the flags that listen prints, a server's events arrive, and verify.
func TestListenToAServer(t *testing.T) {
	l := listenProcess(t, "--secret-file", secretFile(t, anotherSecret, hookSecret))
	l.Says("Events:")
	flags := regexp.MustCompile(`(?m)^  teamdata serve (.*)$`).FindStringSubmatch(l.Out.String())
	if flags == nil || !strings.Contains(l.Out.String(), "  teamdata endpoint create --org ORG --url "+l.URL+" --events member.added --secret-file FILE\n") {
		t.Fatalf("it printed\n%s", l.Out)
	}
	seed := filepath.Join(t.TempDir(), "org.json")
	kit.WriteFile(t, seed, strings.Replace(kit.ReadText(t, program.Example), "https://127.0.0.1:9443/hook", l.URL, 1))
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), append(strings.Fields(flags[1]), "--seed", seed)...)
	a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey)
	id := regexp.MustCompile(`whd_\w+`).FindString(a.Body)
	if a.Status != 200 || id == "" {
		t.Fatalf("answered %d %s", a.Status, a.Body)
	}
	l.Says("  webhook.test  " + id + "  verified\n  {\n    \"type\": \"webhook.test\",\n")
	l.StopWell()
}

// The command that listen prints makes an endpoint with the secret that it verifies with.
func TestListenMakesItsEndpoint(t *testing.T) {
	l := listenProcess(t, "--secret-file", secretFile(t, hookSecret))
	l.Says("Events:")
	flags := regexp.MustCompile(`(?m)^  teamdata serve (.*)$`).FindStringSubmatch(l.Out.String())
	create := regexp.MustCompile(`(?m)^  teamdata (endpoint create --org )ORG( .* --secret-file .*)$`).FindStringSubmatch(l.Out.String())
	if flags == nil || create == nil {
		t.Fatalf("it printed\n%s", l.Out)
	}
	data := filepath.Join(t.TempDir(), "teamdata.db")
	program.Serve(t, data, append(strings.Fields(flags[1]), "--seed", program.Example)...)
	id := program.MustRun(t, append(strings.Fields(create[1]+"org_acme"+create[2]), "--data", data, "--quiet")...)
	program.MustRun(t, "endpoint", "test", strings.TrimSpace(id), "--org", "org_acme", "--data", data)
	l.Says("  verified\n  {\n    \"type\": \"webhook.test\",\n")
	l.StopWell()
}

// The CA is the same from start to start, and for two first starts at once; the
// keys are their owner's alone.
func TestListenKeepsItsCA(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "conf", "tls")
	var first [2]*program.Process
	for i := range first {
		first[i] = program.Begin(t, exec.Command(program.Binary(t), listenArgs(t, []string{"--tls-dir", folder})...))
	}
	for _, p := range first {
		p.AwaitReady(readyFile(p.Cmd))
	}
	again := listenProcess(t, "--tls-dir", folder)
	for _, p := range append(first[:], again) {
		if p.CAFile != filepath.Join(folder, "ca.pem") {
			t.Errorf("the CA is in %s", p.CAFile)
		}
		p.Client = again.Client // which trusts what the file holds now
		mustSend(p, "whd_1", hookSecret, 204)
	}
	for file, mode := range map[string]os.FileMode{"": 0o700, "ca.pem": 0o600, "ca.key.pem": 0o600} {
		if info, err := os.Stat(filepath.Join(folder, file)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v %v", file, info, err)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
		t.Errorf("the folder holds %v (%v)", files, err)
	}
}

// Without a word about it the CA is among the user's other settings.
func TestListenDefaultFolder(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, t.TempDir())
	}
	folder, err := os.UserConfigDir()
	kit.Must(t, err)
	p := startListening(t, exec.Command(program.Binary(t), "listen", "--listen", "127.0.0.1:0", "--ready-file", filepath.Join(t.TempDir(), "ready.json")))
	if p.CAFile != filepath.Join(folder, "teamdata", "listen", "ca.pem") {
		t.Errorf("the CA is in %s", p.CAFile)
	}
}

func TestListenSecrets(t *testing.T) {
	file := secretFile(t, hookSecret)
	for name, test := range map[string]struct {
		flags       []string
		environment string
		stdin       string
	}{
		"file":                {[]string{"--secret-file", file}, "", ""},
		"standard input":      {[]string{"--secret-file", "-"}, "", hookSecret + "\r\n"},
		"environment":         {nil, "TEAMDATA_SECRET=" + hookSecret, ""},
		"file in environment": {nil, "TEAMDATA_SECRET_FILE=" + file, ""},
		"file wins":           {[]string{"--secret-file", file}, "TEAMDATA_SECRET=" + anotherSecret, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program.Binary(t), listenArgs(t, test.flags)...)
			cmd.Env = append(os.Environ(), test.environment)
			cmd.Stdin = strings.NewReader(test.stdin)
			p := startListening(t, cmd)
			mustSend(p, "whd_1", hookSecret, 204)
			mustSend(p, "whd_2", anotherSecret, 400)
			p.Says("whd_2  REFUSED, answered 400: no signature matches")
			if strings.Contains(p.Out.String(), hookSecret[6:]) {
				t.Errorf("it printed the secret:\n%s", p.Out)
			}
		})
	}
}

func TestListenWithoutSecret(t *testing.T) {
	p := listenProcess(t)
	p.Says("secrets  none: events are UNVERIFIED; give the endpoint's with --secret-file")
	mustSend(p, "whd_1", hookSecret, 204)
	p.Says("whd_1  UNVERIFIED\n")
	mustSend(p, "whd_1", hookSecret, 204)
	p.Says("whd_1  UNVERIFIED, again\n")
}

// A script gets one line of JSON an event on stdout and nothing else, and the
// end once enough has come.
func TestListenCount(t *testing.T) {
	var events bytes.Buffer
	cmd := exec.Command(program.Binary(t), listenArgs(t, []string{"--secret-file", secretFile(t, hookSecret), "--json", "--count", "2", "--timeout", "10m"})...)
	cmd.Stdout = &events
	p := startListening(t, cmd)
	mustSend(p, "whd_1", hookSecret, 204)
	mustSend(p, "whd_2", anotherSecret, 400)
	mustSend(p, "whd_1", hookSecret, 204)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Out)
	}
	type event struct {
		Verified, Again bool
		ID, Type        string
		Status          int
	}
	var got []event
	for line := range strings.Lines(events.String()) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, e)
	}
	want := []event{{true, false, "whd_1", "member.added", 204}, {false, false, "whd_2", "member.added", 400}, {true, true, "whd_1", "member.added", 204}}
	if !slices.Equal(got, want) {
		t.Errorf("it printed\n%s", events.String())
	}
}

func TestListenTimeout(t *testing.T) {
	p := listenProcess(t, "--secret-file", secretFile(t, hookSecret), "--count", "2", "--timeout", "1ms")
	p.Says("teamdata: 0 of 2 verified events came within 1ms\n")
	if p.Cmd.Wait(); p.Cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", p.Cmd.ProcessState)
	}
}

// A stop ends a delay: the event is answered, and the program ends with 0, or
// with 1 if it was to wait for more.
func TestListenStop(t *testing.T) {
	for count, want := range map[string]int{"0": 0, "2": 1} {
		p := listenProcess(t, "--secret-file", secretFile(t, hookSecret), "--status", "503", "--delay", "10m", "--count", count)
		status := make(chan int, 1)
		go func() {
			got, _ := send(p, "whd_1", hookSecret)
			status <- got
		}()
		p.Says("whd_1  verified, answered 503\n")
		p.Stop()
		if code := p.Cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("--count %s: it ended with %d\n%s", count, code, p.Out)
		}
		if got := <-status; got != 503 {
			t.Errorf("--count %s: answered %d", count, got)
		}
	}
}

func TestListenForward(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("webhook-id") == "" {
			t.Errorf("the application got %v", q.Header)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	p := listenProcess(t, "--secret-file", secretFile(t, hookSecret), "--forward", app.URL)
	mustSend(p, "whd_1", hookSecret, 202)
	p.Says("whd_1  verified, answered 202\n")
	app.Close()
	mustSend(p, "whd_1", hookSecret, 502)
	p.Says("whd_1  verified, again, answered 502: " + app.URL + " can't be reached: dial tcp")
}

func TestListenPlainHTTP(t *testing.T) {
	p := listenProcess(t, "--http")
	if !strings.HasPrefix(p.URL, "http://127.0.0.1:") || p.CAFile != "" {
		t.Errorf("the ready file says %s, %s", p.URL, p.CAFile)
	}
	mustSend(p, "whd_1", hookSecret, 204)
	p.Says("--url https://TUNNEL/ --events member.added")
}

// With a certificate of one's own there is no other CA; a sender that does not
// trust it is told of.
func TestListenOwnCertificate(t *testing.T) {
	ca, err := localca.NewCA(time.Now(), "receiver")
	kit.Must(t, err)
	leaf, err := ca.Issue(time.Now(), []string{"127.0.0.1"})
	kit.Must(t, err)
	pair, trusted := filepath.Join(t.TempDir(), "pair.pem"), filepath.Join(t.TempDir(), "ca.pem")
	kit.WriteFile(t, pair, string(leaf))
	kit.WriteFile(t, trusted, string(ca.CertificatePEM()))
	p := listenProcess(t, "--tls-cert", pair, "--tls-key", pair)
	if p.CAFile != "" {
		t.Errorf("the ready file names the CA %s", p.CAFile)
	}
	if _, err := send(p, "whd_1", hookSecret); err == nil {
		t.Error("it was trusted without its CA")
	}
	p.Says("http: TLS handshake error from 127.0.0.1:")
	p.CAFile = trusted
	p.Client = &http.Client{Transport: p.Transport()}
	mustSend(p, "whd_2", hookSecret, 204)
}
