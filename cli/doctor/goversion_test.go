package doctor

import (
	"go/version"
	"os"
	"strings"
	"testing"
)

func TestSaferGo(t *testing.T) {
	for built, want := range map[string]string{
		"go1.25.12": "go1.26.10", "go1.26.0": "go1.26.10", "go1.26.9": "go1.26.10", "go1.26.9 X:nodwarf5": "go1.26.10", "go1.26rc1": "go1.26.10", "go1.26.9-vendor": "go1.26.10",
		"go1.26.10": "", "go1.26.11": "", "go1.26.11-vendor": "",
		"go1.27rc2": "go1.27.3", "go1.27.0": "go1.27.3", "go1.27.3": "", "go1.28.0": "",
		"devel go1.29-abcdef": "", "unknown": "",
	} {
		if got := SaferGo(built); got != want {
			t.Errorf("%s: %q, not %q", built, got, want)
		}
	}
}

// Releases are built with a Go that has none of the known vulnerabilities, and go.mod asks for
// the same release of Go.
func TestGoOfReleases(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	release := strings.TrimSpace(read("../../.ci/go-version"))
	if safer := SaferGo(release); safer != "" {
		t.Errorf(".ci/go-version has %s: it should be %s or newer", release, safer)
	}
	_, after, _ := strings.Cut(read("../../go.mod"), "\ngo ")
	asked, _, _ := strings.Cut(after, "\n")
	if asked = "go" + asked; version.Lang(asked) != version.Lang(safeGo[0]) || version.Compare(asked, release) > 0 {
		t.Errorf("go.mod asks for %s, and releases are built with %s", asked, release)
	}
}
