package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// On a full disk writes are answered 503 with Retry-After and leave nothing
// behind, reads go on; when there is room again, so do the writes, without a
// restart.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := kit.SmallDisk(t, "8m")
	ballast := filepath.Join(disk, "ballast")
	kit.Must(t, os.WriteFile(ballast, make([]byte, 7<<20), 0o600))
	data := filepath.Join(disk, "teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example, "--key-rate", "0", "--client-rate", "0")

	sent := map[string]bool{}
	post := func(i int) kit.Answer {
		a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", fmt.Sprint(i))
		if a.Status == 200 {
			sent[a.Body] = true
		}
		return a
	}
	full := 0
	for ; full < 5000; full++ {
		if a := post(full); a.Status == 503 {
			if a.Header.Get("Retry-After") == "" || strings.Contains(a.Body, "space") {
				t.Errorf("a 503 has no Retry-After, or the cause: %s", a.Body)
			}
			break
		} else if a.Status != 200 {
			t.Fatalf("answered %d %s", a.Status, a.Body)
		}
	}
	if full == 5000 {
		t.Fatal("the disk did not fill up")
	}
	entries := kit.NewFile(t, "entries", strings.Repeat(`{"action":"`+strings.Repeat("a", 50)+`"}`+"\n", 20_000))
	if out, err := program.Run(t, "audit", "add", "--file", entries, "--org", "org_acme", "--data", data); err == nil || !strings.Contains(out, "no space left on device") {
		t.Errorf("the operator isn't told that the disk is full: %v, %s", err, out)
	}
	for range 20 {
		if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
			t.Errorf("a read on the full disk was answered %d %s", a.Status, a.Body)
		}
	}
	kit.Must(t, os.Remove(ballast))
	if a := post(full); a.Status != 200 || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("with room again, the refused request is answered %d %s", a.Status, a.Body)
	}
	p.Kill()
	if n := (&program.Data{T: t, At: data}).Deliveries(); n != len(sent) {
		t.Errorf("the file holds %d deliveries, %d were answered", n, len(sent))
	}
}
