package main

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
)

// With the flags that listen prints, a server's events arrive, and verify.
func TestListenToAServer(t *testing.T) {
	l := listenProcess(t, "--secret-file", secretFile(t, anotherSecret, hookSecret))
	l.says("Events:")
	flags := regexp.MustCompile(`(?m)^  teamdata serve (.*)$`).FindStringSubmatch(l.out.String())
	if flags == nil || !strings.Contains(l.out.String(), "  teamdata endpoint create --org ORG --url "+l.url+" --events member.added\n") {
		t.Fatalf("it printed\n%s", l.out)
	}
	seed := filepath.Join(t.TempDir(), "org.json")
	writeFile(t, seed, strings.Replace(string(exampleOrg), "https://127.0.0.1:9443/hook", l.url, 1))
	p := serveProcess(t, filepath.Join(t.TempDir(), "teamdata.db"), append(strings.Fields(flags[1]), "--seed", seed)...)
	a := p.must("POST", "/webhooks/whe_hook/test", writeKey)
	id := regexp.MustCompile(`whd_\w+`).FindString(a.body)
	if a.status != 200 || id == "" {
		t.Fatalf("answered %d %s", a.status, a.body)
	}
	l.says("  webhook.test  " + id + "  verified\n  {\n    \"type\": \"webhook.test\",\n")
	if err := l.stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, l.out)
	}
}

// The CA is the same from start to start, and for two first starts at once; the
// keys are their owner's alone.
func TestListenKeepsItsCA(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "conf", "tls")
	var first [2]*process
	for i := range first {
		first[i] = begin(t, exec.Command(binary, listenArgs(t, []string{"--tls-dir", folder})...))
	}
	for _, p := range first {
		p.awaitReady(readyFile(p.cmd))
	}
	again := listenProcess(t, "--tls-dir", folder)
	for _, p := range append(first[:], again) {
		if p.caFile != filepath.Join(folder, "ca.pem") {
			t.Errorf("the CA is in %s", p.caFile)
		}
		p.client = again.client // which trusts what the file holds now
		p.mustSend("whd_1", hookSecret, 204)
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
	if err != nil {
		t.Fatal(err)
	}
	p := startListening(t, exec.Command(binary, "listen", "--listen", "127.0.0.1:0", "--ready-file", filepath.Join(t.TempDir(), "ready.json")))
	if p.caFile != filepath.Join(folder, "teamdata", "listen", "ca.pem") {
		t.Errorf("the CA is in %s", p.caFile)
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
			cmd := exec.Command(binary, listenArgs(t, test.flags)...)
			cmd.Env = append(os.Environ(), test.environment)
			cmd.Stdin = strings.NewReader(test.stdin)
			p := startListening(t, cmd)
			p.mustSend("whd_1", hookSecret, 204)
			p.mustSend("whd_2", anotherSecret, 400)
			p.says("whd_2  REFUSED, answered 400: no signature matches")
			if strings.Contains(p.out.String(), hookSecret[6:]) {
				t.Errorf("it printed the secret:\n%s", p.out)
			}
		})
	}
}

func TestListenWithoutSecret(t *testing.T) {
	p := listenProcess(t)
	p.says("secrets  none: events are UNVERIFIED; give the endpoint's with --secret-file")
	p.mustSend("whd_1", hookSecret, 204)
	p.says("whd_1  UNVERIFIED\n")
	p.mustSend("whd_1", hookSecret, 204)
	p.says("whd_1  UNVERIFIED, again\n")
}

// A script gets one line of JSON an event on stdout and nothing else, and the
// end once enough has come.
func TestListenCount(t *testing.T) {
	var events bytes.Buffer
	cmd := exec.Command(binary, listenArgs(t, []string{"--secret-file", secretFile(t, hookSecret), "--json", "--count", "2", "--timeout", "10m"})...)
	cmd.Stdout = &events
	p := startListening(t, cmd)
	p.mustSend("whd_1", hookSecret, 204)
	p.mustSend("whd_2", anotherSecret, 400)
	p.mustSend("whd_1", hookSecret, 204)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.out)
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
	p.says("teamdata: 0 of 2 verified events came within 1ms\n")
	if p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", p.cmd.ProcessState)
	}
}

// A stop ends a delay: the event is answered, and the program ends with 0, or
// with 1 if it was to wait for more.
func TestListenStop(t *testing.T) {
	for count, want := range map[string]int{"0": 0, "2": 1} {
		p := listenProcess(t, "--secret-file", secretFile(t, hookSecret), "--status", "503", "--delay", "10m", "--count", count)
		status := make(chan int, 1)
		go func() {
			got, _ := p.send("whd_1", hookSecret)
			status <- got
		}()
		p.says("whd_1  verified, answered 503\n")
		p.stop()
		if code := p.cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("--count %s: it ended with %d\n%s", count, code, p.out)
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
	p.mustSend("whd_1", hookSecret, 202)
	p.says("whd_1  verified, answered 202\n")
	app.Close()
	p.mustSend("whd_1", hookSecret, 502)
	p.says("whd_1  verified, again, answered 502: " + app.URL + " can't be reached: dial tcp")
}

func TestListenPlainHTTP(t *testing.T) {
	p := listenProcess(t, "--http")
	if !strings.HasPrefix(p.url, "http://127.0.0.1:") || p.caFile != "" {
		t.Errorf("the ready file says %s, %s", p.url, p.caFile)
	}
	p.mustSend("whd_1", hookSecret, 204)
	p.says("--url https://TUNNEL/ --events member.added")
}

// With a certificate of one's own there is no other CA; a sender that does not
// trust it is told of.
func TestListenOwnCertificate(t *testing.T) {
	ca, _, err := keptCA(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Issue(time.Now(), []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	pair, trusted := filepath.Join(t.TempDir(), "pair.pem"), filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, pair, string(leaf))
	writeFile(t, trusted, string(ca.CertificatePEM()))
	p := listenProcess(t, "--tls-cert", pair, "--tls-key", pair)
	if p.caFile != "" {
		t.Errorf("the ready file names the CA %s", p.caFile)
	}
	if _, err := p.send("whd_1", hookSecret); err == nil {
		t.Error("it was trusted without its CA")
	}
	p.says("http: TLS handshake error from 127.0.0.1:")
	p.caFile = trusted
	p.client = &http.Client{Transport: p.transport()}
	p.mustSend("whd_2", hookSecret, 204)
}
