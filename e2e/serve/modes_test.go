package serve_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
)

// A start tells of each file with secrets that others may open, and of no other.
func TestModesOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	folder := t.TempDir()
	data, key := filepath.Join(folder, "teamdata.db"), kit.SealKey(t, folder)
	const told = "chmod 600 "
	p := program.Serve(t, data, "--seal-key-file", key)
	if err := p.Stop(); err != nil || strings.Contains(p.Out.String(), told) {
		t.Errorf("with modes as they should be: %v\n%s", err, p.Out)
	}
	for _, row := range []struct {
		file string
		mode os.FileMode
		told bool
	}{{data, 0o640, true}, {data, 0o600, false}, {key, 0o644, true}, {key, 0o640, false}} {
		kit.Must(t, os.Chmod(row.file, row.mode))
		p := program.Serve(t, data, "--seal-key-file", key)
		if err := p.Stop(); err != nil || strings.Contains(p.Out.String(), told+row.file+`"`) != row.told {
			t.Errorf("%s with mode %v: %v\n%s", row.file, row.mode, err, p.Out)
		}
	}
}

// So it does of the key of a certificate.
func TestModeOfTLSKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	ca, err := localca.NewCA(time.Now(), "operator")
	kit.Must(t, err)
	both, err := ca.Issue(time.Now(), []string{"localhost"})
	kit.Must(t, err)
	key := filepath.Join(t.TempDir(), "both.pem")
	kit.Must(t, atomicfile.Write(key, both, 0o604))
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--tls-cert", key, "--tls-key", key)
	if err := p.Stop(); err != nil || strings.Count(p.Out.String(), "chmod 600 "+key+`"`) != 1 {
		t.Errorf("%v\n%s", err, p.Out)
	}
}
