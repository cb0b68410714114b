package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// TestFileMoved: a server whose data file is renamed over or removed acknowledges
// nothing any more, and ends with a reason, so that its supervisor starts it on what
// is there.
func TestFileMoved(t *testing.T) {
	t.Parallel()
	remove := func(data string) error { return os.Remove(data) }
	replace := func(data string) error {
		other := data + ".other"
		program.MustRun(t, "import", program.Example, "--data", other)
		return os.Rename(other, data)
	}
	for name, test := range map[string]struct {
		move  func(data string) error
		write bool
		want  string
	}{
		"removed":            {remove, true, "was removed or renamed while it was open"},
		"replaced":           {replace, true, "was replaced by another file while it was open"},
		"replaced when idle": {replace, false, "was replaced by another file while it was open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "teamdata.db")
			p := program.Serve(t, data, "--seed", program.Example)
			if err := test.move(data); err != nil {
				t.Fatal(err)
			}
			if test.write {
				// It may have ended before that.
				if a, err := p.Do("POST", "/webhooks/whe_hook/test", program.WriteKey, "Idempotency-Key", "k"); err == nil && a.Status != 503 {
					t.Fatalf("a write into a file that nobody finds is answered %d %s", a.Status, a.Body)
				}
			}
			if status := p.Ended(); status != 1 {
				t.Errorf("it ended with %d", status)
			}
			if out := p.Out.String(); !strings.Contains(out, "data file "+data+" "+test.want) {
				t.Errorf("it said:\n%s", out)
			}
		})
	}
}
