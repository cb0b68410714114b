package serve_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/delivery/receiver"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A file in plain text is sealed when it is served with a key: it keeps its CA
// and its data, and what it sends verifies as before.
func TestServeSealed(t *testing.T) {
	folder := t.TempDir()
	data, key := filepath.Join(folder, "teamdata.db"), kit.SealKey(t, folder)
	secret := string(regexp.MustCompile(`whsec_[^"]+`).Find([]byte(kit.ReadText(t, program.Example))))
	secrets, err := receiver.ParseSecrets(secret)
	kit.Must(t, err)
	out := kit.NewOutput()
	url, ca := program.ServeTLS(t, receiver.New(receiver.Config{Secrets: secrets, Print: receiver.Text(out, false)}))
	seed := kit.NewFile(t, "org.json", strings.Replace(kit.ReadText(t, program.Example), "https://127.0.0.1:9443/hook", url, 1))
	flags := []string{"--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.1/32"}

	p := program.Serve(t, data, append(flags, "--seed", seed)...)
	trusted := kit.ReadText(t, p.CAFile)
	p.StopWell()
	const told = "is now sealed"
	for start, wantTold := range []bool{true, false} {
		p = program.Serve(t, data, append(flags, "--seal-key-file", key)...)
		if kit.ReadText(t, p.CAFile) != trusted {
			t.Error("it has made another CA")
		}
		a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey)
		id := regexp.MustCompile(`whd_\w+`).FindString(a.Body)
		if a.Status != 200 || id == "" {
			t.Fatalf("answered %d %s", a.Status, a.Body)
		}
		p.Await("the verified event", func() bool { return strings.Contains(out.String(), id+"  verified\n") })
		p.StopWell()
		if strings.Contains(p.Out.String(), told) != wantTold {
			t.Errorf("at start %d with the key it said:\n%s", start+1, p.Out)
		}
	}
	program.MustRun(t, "check", "--data", data)
}

// A file that was sealed from the start shows neither secrets nor private keys.
func TestServeSealedFromTheStart(t *testing.T) {
	folder := t.TempDir()
	data, key := filepath.Join(folder, "teamdata.db"), kit.SealKey(t, folder)
	p := program.Serve(t, data, "--seal-key-file", key, "--seed", program.Example)
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
		t.Errorf("answered %d %s", a.Status, a.Body)
	}
	p.Kill()
	content := kit.ReadText(t, data)
	if !strings.Contains(content, "org_acme") {
		t.Error("the data file does not hold the org")
	}
	for _, secret := range []string{"PRIVATE KEY", "whsec_"} {
		if strings.Contains(content, secret) {
			t.Errorf("%q shows in the data file", secret)
		}
	}
}
