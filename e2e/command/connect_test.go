package command

import (
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store/boltstore"
)

// A data file that another process has open, and whose socket no server listens on,
// is refused at once, with what to do.
func TestConnectRefused(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	out, err := program.Run(t, "org", "list", "--data", data)
	if err == nil || !strings.Contains(out, "in use by") || !strings.Contains(out, "no server listens on "+data+".sock") {
		t.Errorf("it said %s", out)
	}
	kit.WriteFile(t, data+".sock", "no socket")
	if out, err = program.Run(t, "org", "list", "--data", data); err == nil || strings.Count(out, "\n") != 2 {
		t.Errorf("it said %s", out)
	}
}
