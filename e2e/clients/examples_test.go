package clients

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// An application pushes its data while another reads it, each record once and in
// order: the examples, run as a user would.
func TestExamples(t *testing.T) {
	entries, members := kit.Size(2000, 100_000), kit.Size(50, 1000)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--key-rate", "0", "--client-rate", "0")

	t.Run("ingest", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "ingest")
		if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./contrib/ingest").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Setenv("TEAMDATA_KEY", newOrg(t, data, "org_go"))
		runExample(t, program, "--socket", data+".sock", "--url", p.URL, "--ca", p.CAFile, "--org", "org_go",
			"--entries", strconv.Itoa(entries), "--members", strconv.Itoa(members))
	})
	t.Run("ingest.sh", func(t *testing.T) {
		if _, err := exec.LookPath("curl"); err != nil {
			kit.MustSkip(t, "there is no curl")
		}
		t.Setenv("SOCKET", data+".sock")
		key, polled := newOrg(t, data, "org_shell"), make(chan error, 2)
		go func() { polled <- poll(p, "/audit-log", key, "invoice.paid", entries) }()
		go func() { polled <- poll(p, "/members", key, "member", members) }()
		runExample(t, "contrib/ingest.sh", "org_shell", strconv.Itoa(entries), strconv.Itoa(members))
		for range cap(polled) {
			if err := <-polled; err != nil {
				t.Error(err)
			}
		}
	})
}

// newOrg makes an org with an owner, and returns a key of it that reads.
func newOrg(t *testing.T, data, id string) (key string) {
	t.Helper()
	for _, line := range []string{
		"org create --name Org --id " + id,
		"member add usr_ada --role owner --org " + id,
		"key create --scopes read --created-by usr_ada --quiet --org " + id,
	} {
		cmd := exec.Command(program.Binary(t), append(strings.Fields(line), "--data", data)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("teamdata %s: %v", line, err)
		}
		key = strings.TrimSpace(string(out))
	}
	return key
}

// runExample runs an example to its end, which is to be a good one.
func runExample(t *testing.T, program string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	t.Logf("%s", out)
}

// poll follows a list from its start until it has seen n records of a kind, and
// holds them to being numbered from 1, each once and in order.
func poll(p *program.Process, list, key, kind string, n int) error {
	last := time.Now() // that something came
	for seen, after := 0, ""; seen < n; {
		if time.Since(last) > time.Minute {
			return fmt.Errorf("%s: only %d of %d came", list, seen, n)
		}
		a, err := p.Do("GET", list+"?limit=100"+after, key)
		if err != nil {
			return err
		}
		var page struct {
			Data []struct{ Action, TargetID, Role, UserID string }
			Next string
		}
		if err := json.Unmarshal([]byte(a.Body), &page); err != nil || a.Status != 200 {
			return fmt.Errorf("%s: %d %s", list, a.Status, a.Body)
		}
		for _, item := range page.Data {
			if item.Action != kind && item.Role != kind {
				continue
			}
			seen, last = seen+1, time.Now()
			if name := item.TargetID + item.UserID; !strings.HasSuffix(name, fmt.Sprintf("-%07d", seen)) {
				return fmt.Errorf("%s: %s came as number %d", list, name, seen)
			}
		}
		if page.Next != "" {
			after = "&after=" + url.QueryEscape(page.Next)
		}
	}
	return nil
}
