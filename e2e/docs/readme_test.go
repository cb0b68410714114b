package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// The README's first screen shows what teamdata is, and how to try it. What it shows is small
// enough for a slow connection. TestDemo pastes the first command, and the other runs this
// test.
func TestReadme(t *testing.T) {
	lines := strings.Split(kit.ReadText(t, "README.md"), "\n")
	if len(lines) > 130 {
		t.Errorf("the README has %d lines", len(lines))
	}
	first := strings.Join(lines[:40], "\n")
	for _, want := range []string{"webhooks of your product's customers", "<picture>", "docs/pictures/endpoint-light.png", "\n```\ngo run . serve --demo\ngo test ./...\n```\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("the README's first 40 lines have no %q", want)
		}
	}
	files, err := filepath.Glob("docs/pictures/*.png")
	kit.Must(t, err)
	size := 0
	for _, file := range files {
		info, err := os.Stat(file)
		kit.Must(t, err)
		size += int(info.Size())
	}
	shown := regexp.MustCompile(`docs/pictures/[\w-]+\.png`).FindAllString(strings.Join(lines, "\n"), -1)
	if len(shown) != 4 || len(files) != 4 || size > 150_000 {
		t.Errorf("the README shows %v; there are %v, of %d bytes", shown, files, size)
	}
	for _, file := range shown {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}
