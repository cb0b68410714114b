package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// On a full disk writes are answered 503 with Retry-After and leave nothing
// behind, reads go on; when there is room again, so do the writes, without a
// restart.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		mustSkip(t, fmt.Sprintf("a small file system can't be mounted: %v", err))
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 7<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(disk, "teamdata.db")
	p := serveProcess(t, data, "--seed", "testdata/example.json", "--key-rate", "0", "--client-rate", "0")

	sent := map[string]bool{}
	post := func(i int) answer {
		a := p.must("POST", "/webhooks/whe_hook/test", writeKey, "Idempotency-Key", fmt.Sprint(i))
		if a.status == 200 {
			sent[a.body] = true
		}
		return a
	}
	full := 0
	for ; full < 5000; full++ {
		if a := post(full); a.status == 503 {
			if a.header.Get("Retry-After") == "" {
				t.Error("a 503 has no Retry-After")
			}
			break
		} else if a.status != 200 {
			t.Fatalf("answered %d %s", a.status, a.body)
		}
	}
	if full == 5000 {
		t.Fatal("the disk did not fill up")
	}
	for range 20 {
		if a := p.must("GET", "/members", readKey); a.status != 200 {
			t.Errorf("a read on the full disk was answered %d %s", a.status, a.body)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if a := post(full); a.status != 200 || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("with room again, the refused request is answered %d %s", a.status, a.body)
	}
	p.kill()
	if n := countDeliveries(t, data); n != len(sent) {
		t.Errorf("the file holds %d deliveries, %d were answered", n, len(sent))
	}
}
