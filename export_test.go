package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mustRun runs the program, which is to succeed, and returns what it said.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, args...)
	if err != nil {
		t.Fatalf("teamdata %v: %v\n%s", args, err, out)
	}
	return out
}

// holdsOnly holds a folder to having no files but those, by their names.
func holdsOnly(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	if got, want := strings.Join(found, " "), strings.Join(names, " "); got != want { // both are sorted
		t.Errorf("the folder holds %s, and not %s", got, want)
	}
}

// What is exported and imported elsewhere is exported as the same bytes.
func TestExportAndImport(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	told := mustRun(t, "import", "testdata/example.json", "--data", in("a.db"))
	if !strings.Contains(told, "imported into data file "+in("a.db")+": 2 orgs, 6 members, 12 audit entries, 3 API keys, 1 endpoint\n") {
		t.Errorf("it said: %s", told)
	}
	told = mustRun(t, "export", in("a.json"), "--data", in("a.db"))
	if !strings.Contains(told, "exported from data file "+in("a.db")+": 2 orgs, 6 members") {
		t.Errorf("it said: %s", told)
	}
	mustRun(t, "import", in("a.json"), "--data", in("b.db"))
	mustRun(t, "export", in("b.json"), "--data", in("b.db"))
	if a, b := readText(t, in("a.json")), readText(t, in("b.json")); a != b || !strings.Contains(a, "Chloé") {
		t.Errorf("exported first:\n%s\nand again:\n%s", a, b)
	}
	if info, err := os.Stat(in("a.json")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	holdsOnly(t, folder, "a.db", "a.json", "b.db", "b.json")
}

func TestExportTakesNoOthersPlace(t *testing.T) {
	folder := t.TempDir()
	data, to := filepath.Join(folder, "a.db"), filepath.Join(folder, "a.json")
	mustRun(t, "import", "testdata/example.json", "--data", data)
	writeFile(t, to, "mine")
	out, err := run(t, "export", to, "--data", data)
	if err == nil || !strings.Contains(out, "the file "+to+" exists already") || readText(t, to) != "mine" {
		t.Errorf("it said %s, and the file holds %s", out, readText(t, to))
	}
	mustRun(t, "export", to, "--data", data, "--force")
	if !strings.Contains(readText(t, to), "org_acme") {
		t.Error("--force did not write the file")
	}
	out, err = run(t, "export", "--data", filepath.Join(folder, "none.db"))
	if err == nil || !strings.Contains(out, "none.db is not there") {
		t.Errorf("of a file that is not there it said: %s", out)
	}
	holdsOnly(t, folder, "a.db", "a.json")
}

// A file that is served can be exported, and can't be imported into.
func TestExportWhileServed(t *testing.T) {
	folder := t.TempDir()
	data, to := filepath.Join(folder, "a.db"), filepath.Join(folder, "live.json")
	p := serveProcess(t, data, "--seed", "testdata/example.json")
	mustRun(t, "export", to, "--data", data)
	out, err := run(t, "import", "testdata/example.json", "--data", data)
	if err == nil || !strings.Contains(out, "in use") || !strings.Contains(out, "admin API") {
		t.Errorf("import said: %s", out)
	}
	if a := p.must("GET", "/members", readKey); a.status != 200 {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "export", filepath.Join(folder, "stopped.json"), "--data", data)
	if live := readText(t, to); live != readText(t, filepath.Join(folder, "stopped.json")) || !strings.Contains(live, "whsec_") {
		t.Errorf("exported while it was served:\n%s", live)
	}
	holdsOnly(t, folder, "a.db", "a.db.ca.pem", "live.json", "stopped.json")
}

// A sealed file is exported with its key alone, and imported into one with
// another key.
func TestExportSealed(t *testing.T) {
	folder := t.TempDir()
	key, data := sealKey(t, folder), filepath.Join(folder, "a.db")
	told := mustRun(t, "import", "testdata/example.json", "--data", data, "--seal-key-file", key)
	if !strings.Contains(told, "sealed from now on") {
		t.Errorf("import said: %s", told)
	}
	if strings.Contains(readText(t, data), "whsec_") {
		t.Error("a secret shows in the sealed file")
	}
	out, err := run(t, "export", "--data", data)
	if err == nil || strings.Contains(out, ".export-") || !strings.Contains(out, "data file "+data+" is sealed") {
		t.Errorf("without the key it said: %s", out)
	}
	mustRun(t, "export", filepath.Join(folder, "a.json"), "--data", data, "--seal-key-file", key)
	if !strings.Contains(readText(t, filepath.Join(folder, "a.json")), "whsec_") {
		t.Error("the export lacks the secret")
	}
	mustRun(t, "import", filepath.Join(folder, "a.json"), "--data", filepath.Join(folder, "plain.db"))
	mustRun(t, "export", filepath.Join(folder, "b.json"), "--data", filepath.Join(folder, "plain.db"))
	if readText(t, filepath.Join(folder, "a.json")) != readText(t, filepath.Join(folder, "b.json")) {
		t.Error("the exports differ")
	}
}
