package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// On a full disk readyz says so, livez doesn't mind, the log tells it, and
// without a restart it is ready again when there is room.
func TestReadyOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := kit.SmallDisk(t, "8m")
	p := program.Serve(t, filepath.Join(disk, "teamdata.db"), "--seed", program.Example, "--client-rate", "0", "--key-rate", "0")
	if status, body := p.Health(server.ReadyPath); status != 200 {
		t.Fatalf("it begins with %d %s", status, body)
	}

	ballast := filepath.Join(disk, "ballast")
	kit.Fill(t, ballast)
	var body string
	p.Await("a 503 of readyz", func() bool {
		var status int
		status, body = p.Health(server.ReadyPath)
		return status == 503
	})
	if !strings.HasPrefix(body, "disk: ") && !strings.HasPrefix(body, "commit: the disk is full\n") || strings.Contains(body, disk) {
		t.Errorf("on a full disk it says %s", body)
	}
	if status, _ := p.Health(server.LivePath); status != 200 {
		t.Errorf("on a full disk livez is answered %d", status)
	}

	kit.Must(t, os.Remove(ballast))
	p.Await("a 200 of readyz", func() bool {
		status, _ := p.Health(server.ReadyPath)
		return status == 200
	})
	for _, message := range []string{"not ready", "ready again"} {
		p.Says(`"message":"` + message + `"`)
	}
}
