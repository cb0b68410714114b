package power_test

import (
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// TestFailedSync: a server whose disk fails while the page is synced that makes a
// commit valid can't know what the disk has. It acknowledges nothing, and ends with
// the reason, so that its supervisor starts it on what is there.
func TestFailedSync(t *testing.T) {
	p, syncs := serveSyncs(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example)
	test := func() int {
		a, err := p.Do("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", "k")
		if err != nil {
			t.Fatal(err)
		}
		return a.Status
	}
	syncs.FailAfter(1)
	if status := test(); status != 503 {
		t.Errorf("a commit that is in doubt is answered %d", status)
	}
	if status := p.Ended(); status != 1 {
		t.Errorf("it ended with %d", status)
	}
	if out := p.Out.String(); !strings.Contains(out, "the disk failed while a commit was being written: input/output error") {
		t.Errorf("it said:\n%s", out)
	}
}

// TestFailedSyncOfPages: where the pages of a commit fail, the commit before is what
// the disk has, and the server goes on.
func TestFailedSyncOfPages(t *testing.T) {
	p, syncs := serveSyncs(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example)
	syncs.FailAfter(0)
	if a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", "k"); a.Status != 503 {
		t.Errorf("a commit that failed is answered %d", a.Status)
	}
	if a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", "k"); a.Status != 200 {
		t.Errorf("the next is answered %d %s", a.Status, a.Body)
	}
}
