package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

const root = "../.."

// Every generated file is what the generator makes now. Outside of CI the other
// generators have to be there already: nothing is fetched.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Run("own", func(t *testing.T) { holdGenerated(t, generator.writeOwn) })
	t.Run("types in Go", func(t *testing.T) {
		proxy := ""
		if os.Getenv("CI") == "" {
			proxy = moduleCache(t)
			t.Setenv("GOPROXY", proxy)
		}
		holdGenerated(t, func(g generator) error {
			err := g.writeGoTypes()
			if err != nil && proxy != "" && strings.Contains(err.Error(), proxy) {
				kit.MustSkip(t, "the generator is not in the module cache: go generate ./...")
			}
			return err
		})
	})
	t.Run("types in TypeScript", func(t *testing.T) {
		if _, err := exec.LookPath("node"); err != nil {
			kit.MustSkip(t, "node is not installed: apt-get install nodejs npm")
		}
		if _, err := os.Stat(filepath.Join(root, typeScript, "../node_modules")); err != nil {
			kit.MustSkip(t, "the generator is not installed: npm ci --prefix contrib/clients/typescript")
		}
		holdGenerated(t, generator.writeTypeScriptTypes)
	})
}

// holdGenerated compares what is written into a folder of its own with the files of the
// module.
func holdGenerated(t *testing.T, write func(generator) error) {
	t.Helper()
	made, files := t.TempDir(), 0
	kit.Must(t, write(generator{from: root, to: made}))
	kit.Must(t, fs.WalkDir(os.DirFS(made), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		kept, _ := os.ReadFile(filepath.Join(root, file))
		if now, err := os.ReadFile(filepath.Join(made, file)); err != nil || !bytes.Equal(kept, now) {
			t.Errorf("%s is stale: go generate ./...", file)
		}
		return nil
	}))
	if files < 2 {
		t.Errorf("only %d files are generated", files)
	}
}

// moduleCache is the module cache in the form of a proxy.
func moduleCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	kit.Must(t, err)
	return "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(out)), "cache/download"))
}

// The document in JSON has the order of the one in YAML, and what is merged in its place,
// unless the mapping has its own: a name that is given twice is refused by strict readers.
func TestParse(t *testing.T) {
	d, err := parse([]byte("x-anchors:\n  both: &both {z: 1, last: 0, a: <b>}\nlist: &list [\"1\", 2.5, true, null]\nmerged:\n  first: *list\n  <<: *both\n  last: 2026\n"))
	const want = `{"list":["1",2.5,true,null],"merged":{"first":["1",2.5,true,null],"z":1,"a":"<b>","last":2026}}`
	if got := strings.NewReplacer(" ", "", "\n", "").Replace(string(d.json)); err != nil || got != want {
		t.Errorf("got  %s\nwant %s\n%v", got, want, err)
	}
	if _, err := parse([]byte("a: [")); err == nil {
		t.Error("half a document is one")
	}
}
