package power_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"teamdata/e2e/kit/program"
)

// TestNamesAreSynced: the folder of --backup-dir, where serve makes it, and the file of
// an export have names that outlast a power cut.
func TestNamesAreSynced(t *testing.T) {
	r := newRecording(t)
	for _, name := range []string{"backups", "exports"} {
		if err := os.Mkdir(r.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	folder, file := r.path("backups/made"), r.path("exports/all.json")
	p := r.serve("serve", "--seed", program.Example, "--backup-dir", folder+"/") // as a shell completes it
	p.Says("made a backup")
	p.StopWell()
	r.run("export", "export", file, "--data", r.path(dataName))
	ops := r.read()
	named := slices.IndexFunc(ops, func(op diskOp) bool { return op.name == file })
	for _, want := range []struct {
		name  string
		after int
	}{{folder, 0}, {file, named + 1}} {
		if !slices.ContainsFunc(ops[want.after:], func(op diskOp) bool {
			return op.kind == opSyncEnd && op.inode == 0 && op.folder == filepath.Dir(want.name)
		}) {
			t.Errorf("the name of %s was not synced", filepath.Base(want.name))
		}
	}
}
