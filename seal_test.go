package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/store/boltstore"
	"teamdata/store/seal"
)

// A file in plain text is sealed when it is served with a key: it keeps its CA
// and its data, and what it sends verifies as before.
func TestServeSealed(t *testing.T) {
	folder := t.TempDir()
	data, key := filepath.Join(folder, "teamdata.db"), sealKey(t, folder)
	secret := string(regexp.MustCompile(`whsec_[^"]+`).Find(exampleOrg))
	out, ca := newOutput(), filepath.Join(folder, "receiver.ca.pem")
	url, stop, err := startReceiver(secret, ca, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	seed := filepath.Join(folder, "org.json")
	writeFile(t, seed, strings.Replace(string(exampleOrg), "https://127.0.0.1:9443/hook", url, 1))
	flags := []string{"--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.1/32"}

	p := serveProcess(t, data, append(flags, "--seed", seed)...)
	trusted := readText(t, p.caFile)
	if err := p.stop(); err != nil {
		t.Fatalf("it ended with %v\n%s", err, p.out)
	}
	const told = "sealed from now on"
	for start, wantTold := range []bool{true, false} {
		p = serveProcess(t, data, append(flags, "--seal-key-file", key)...)
		if strings.Contains(p.out.String(), told) != wantTold {
			t.Errorf("at start %d with the key it said:\n%s", start+1, p.out)
		}
		if readText(t, p.caFile) != trusted {
			t.Error("it has made another CA")
		}
		a := p.must("POST", "/webhooks/whe_hook/test", writeKey)
		id := regexp.MustCompile(`whd_\w+`).FindString(a.body)
		if a.status != 200 || id == "" {
			t.Fatalf("answered %d %s", a.status, a.body)
		}
		p.await("the verified event", func() bool { return strings.Contains(out.String(), id+"  verified\n") })
		if err := p.stop(); err != nil {
			t.Errorf("it ended with %v\n%s", err, p.out)
		}
	}
	if said, err := run(t, "check", "--data", data); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// A file that was sealed from the start shows neither secrets nor private keys.
func TestServeSealedFromTheStart(t *testing.T) {
	folder := t.TempDir()
	data, key := filepath.Join(folder, "teamdata.db"), sealKey(t, folder)
	p := serveProcess(t, data, "--seal-key-file", key, "--seed", "testdata/example.json")
	if a := p.must("GET", "/members", readKey); a.status != 200 {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	p.kill()
	content, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte("org_acme")) {
		t.Error("the data file does not hold the org")
	}
	for _, secret := range []string{"PRIVATE KEY", "whsec_"} {
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%q shows in the data file", secret)
		}
	}
}

// sealKey makes a key file.
func sealKey(t *testing.T, folder string) (path string) {
	t.Helper()
	path = filepath.Join(folder, "seal.key")
	writeFile(t, path, strings.Repeat("4f", seal.KeySize)+"\n")
	return path
}

// sealedFile makes a sealed data file.
func sealedFile(t *testing.T, folder string) (path string) {
	t.Helper()
	path = filepath.Join(folder, "sealed.db")
	sealer, err := seal.ReadKeyFile(sealKey(t, folder))
	if err != nil {
		t.Fatal(err)
	}
	s, err := boltstore.Open(path, boltstore.Options{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func readText(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
