package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// The tests of docs/testing.md for other languages run as one would paste them, and
// come to their first assertion soon.
func TestTestingPage(t *testing.T) {
	const soon = 25 // lines
	for heading, lang := range map[string]struct {
		code, file, assertion string
		run                   []string
	}{
		"Node":   {"js", "teamdata.test.mjs", "  assert.", []string{"node", "--test"}},
		"Python": {"python", "teamdata_test.py", " self.assert", []string{"python3", "-m", "unittest"}},
	} {
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(lang.run[0]); err != nil {
				kit.MustSkip(t, lang.run[0]+" is not installed")
			}
			block := regexp.MustCompile("(?s)With `(.*?)`.*?```" + lang.code + "\n(.*?)```").FindStringSubmatch(section(t, "docs/testing.md", "### "+heading))
			if block == nil || block[1] != strings.Join(append(lang.run, lang.file), " ") {
				t.Fatalf("docs/testing.md has no test for %s, or runs it otherwise than by %v", heading, lang.run)
			}
			before, _, _ := strings.Cut(block[2], lang.assertion)
			if n := strings.Count(before, "\n"); n > soon {
				t.Errorf("the first assertion comes after %d lines, not %d", n, soon)
			}
			folder := t.TempDir()
			kit.WriteFile(t, filepath.Join(folder, lang.file), block[2])
			runScript(t, "PYTHONDONTWRITEBYTECODE=1 "+block[1], folder, folder)
			if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) != 1 {
				t.Errorf("it left %v", left)
			}
		})
	}
}
