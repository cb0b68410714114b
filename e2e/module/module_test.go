// Package module_test proves that the module can be used by another one, and renamed.
package module_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// page is docs/testing.md.
func page(t *testing.T) string {
	t.Helper()
	return kit.ReadText(t, "../../docs/testing.md")
}

// sample returns the first code block of a language on a page.
func sample(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n```"+language+"\n")
	code, _, ended := strings.Cut(rest, "\n```\n")
	if !found || !ended {
		t.Fatalf("docs/testing.md has no block of %s", language)
	}
	return code + "\n"
}

// TestForeignModule does what docs/testing.md says, in an empty folder: a module of
// someone else's runs its test, which has no more than 25 lines.
func TestForeignModule(t *testing.T) {
	kit.OnlyAtSize(t)
	text := page(t)
	code := sample(t, text, "go")
	if n := strings.Count(code, "\n"); n > 25 {
		t.Errorf("the sample has %d lines", n)
	}
	root, err := filepath.Abs("../..")
	kit.Must(t, err)
	folder := t.TempDir()
	kit.WriteFile(t, filepath.Join(folder, "acme_test.go"), code)
	shell := exec.Command("sh", "-euxc", strings.ReplaceAll(sample(t, text, "sh"), "../teamdata", root))
	shell.Dir = folder
	shell.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok  \t") {
		t.Errorf("%v\n%s", err, out)
	}
	sums := kit.ReadText(t, filepath.Join(folder, "go.sum"))
	modules := strings.Count(sums, "\n") - strings.Count(sums, "/go.mod ")
	if t.Logf("it downloads %d modules", modules); modules > 56 {
		t.Error("a test that imports teamdatatest must not cost its module more than 56")
	}
}

// TestRenameModule renames the module in a copy of this tree: every package is found
// under its new path, and none under the old one.
func TestRenameModule(t *testing.T) {
	kit.OnlyAtSize(t)
	folder := t.TempDir()
	copied := exec.Command("sh", "-euc", `git ls-files -co --exclude-standard -z | tar -c --null -T - | tar -x -C "$1"`, "sh", folder)
	copied.Dir = "../.."
	if out, err := copied.CombinedOutput(); err != nil {
		t.Skipf("this is no clone: %v\n%s", err, out)
	}
	in := func(name string, args ...string) string {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOFLAGS=-trimpath") // so that the next run finds it built
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	in(".ci/rename-module", "example.com/acme/teamdata")
	for _, name := range strings.Fields(in("go", "list", "-deps", "-test", "./...")) {
		if name == "teamdata" || strings.HasPrefix(name, "teamdata/") {
			t.Errorf("%s is still imported", name)
		}
	}
	in("go", "test", "-run", "TestArrows|TestLinksInDocs", ".")
	content, err := os.ReadFile(filepath.Join(folder, "docs/testing.md"))
	if text := string(content); err != nil || strings.Count(text, "example.com/acme/teamdata/teamdatatest") != 1 || strings.Count(text, "example.com/acme/teamdata@") != 1 || strings.Count(text, "-replace example.com/acme/teamdata=") != 1 {
		t.Errorf("docs/testing.md is\n%s\n%v", text, err)
	}
	content, err = os.ReadFile(filepath.Join(folder, "docs/clients.md"))
	if text := string(content); err != nil || strings.Count(text, `"example.com/acme/teamdata/client`) != 4 || strings.Contains(text, "-rl teamdata/") || strings.Contains(text, "s|teamdata/") {
		t.Errorf("docs/clients.md is\n%s\n%v", text, err)
	}
	if unformatted := in("gofmt", "-l", "."); unformatted != "" {
		t.Errorf("not formatted any more: %s", unformatted)
	}
	wrong := exec.Command(filepath.Join(folder, ".ci/rename-module"), `a"b`)
	if out, err := wrong.CombinedOutput(); err == nil || !strings.Contains(string(out), "usage") {
		t.Errorf("a path that is none: %v %s", err, out)
	}
}
