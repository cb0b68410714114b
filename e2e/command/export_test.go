package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// holdsOnly holds a folder to having no files but those, by their names.
func holdsOnly(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	kit.Must(t, err)
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
	told := program.MustRun(t, "import", program.Example, "--data", in("a.db"))
	if !strings.Contains(told, "imported into data file "+in("a.db")+": 2 orgs, 6 members, 12 audit entries, 3 API keys, 1 endpoint\n") {
		t.Errorf("it said: %s", told)
	}
	told = program.MustRun(t, "export", in("a.json"), "--data", in("a.db"))
	if !strings.Contains(told, "exported from data file "+in("a.db")+": 2 orgs, 6 members") {
		t.Errorf("it said: %s", told)
	}
	program.MustRun(t, "import", in("a.json"), "--data", in("b.db"))
	program.MustRun(t, "export", in("b.json"), "--data", in("b.db"))
	if a, b := kit.ReadText(t, in("a.json")), kit.ReadText(t, in("b.json")); a != b || !strings.Contains(a, "Chloé") {
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
	program.MustRun(t, "import", program.Example, "--data", data)
	kit.WriteFile(t, to, "mine")
	out, err := program.Run(t, "export", to, "--data", data)
	if err == nil || !strings.Contains(out, "the file "+to+" exists already") || kit.ReadText(t, to) != "mine" {
		t.Errorf("it said %s, and the file holds %s", out, kit.ReadText(t, to))
	}
	program.MustRun(t, "export", to, "--data", data, "--force")
	if !strings.Contains(kit.ReadText(t, to), "org_acme") {
		t.Error("--force did not write the file")
	}
	out, err = program.Run(t, "export", "--data", filepath.Join(folder, "none.db"))
	if err == nil || !strings.Contains(out, "none.db does not exist") {
		t.Errorf("of a file that is not there it said: %s", out)
	}
	holdsOnly(t, folder, "a.db", "a.json")
}

// A file that is served can be exported, and can't be imported into.
func TestExportWhileServed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, to := filepath.Join(folder, "a.db"), filepath.Join(folder, "live.json")
	p := program.Serve(t, data, "--seed", program.Example)
	program.MustRun(t, "export", to, "--data", data)
	out, err := program.Run(t, "import", program.Example, "--data", data)
	if err == nil || !strings.Contains(out, "in use") || !strings.Contains(out, "admin API") {
		t.Errorf("import said: %s", out)
	}
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
		t.Errorf("answered %d %s", a.Status, a.Body)
	}
	kit.Must(t, p.Stop())
	program.MustRun(t, "export", filepath.Join(folder, "stopped.json"), "--data", data)
	if live := kit.ReadText(t, to); live != kit.ReadText(t, filepath.Join(folder, "stopped.json")) || !strings.Contains(live, "whsec_") {
		t.Errorf("exported while it was served:\n%s", live)
	}
	holdsOnly(t, folder, "a.db", "a.db.ca.pem", "live.json", "stopped.json")
}

// A sealed file is exported with its key alone, and imported into one with
// another key.
func TestExportSealed(t *testing.T) {
	folder := t.TempDir()
	key, data := kit.SealKey(t, folder), filepath.Join(folder, "a.db")
	told := program.MustRun(t, "import", program.Example, "--data", data, "--seal-key-file", key)
	if !strings.Contains(told, "is now sealed") {
		t.Errorf("import said: %s", told)
	}
	if strings.Contains(kit.ReadText(t, data), "whsec_") {
		t.Error("a secret shows in the sealed file")
	}
	out, err := program.Run(t, "export", "--data", data)
	if err == nil || strings.Contains(out, ".export-") || !strings.Contains(out, "data file "+data+" is sealed") {
		t.Errorf("without the key it said: %s", out)
	}
	program.MustRun(t, "export", filepath.Join(folder, "a.json"), "--data", data, "--seal-key-file", key)
	if !strings.Contains(kit.ReadText(t, filepath.Join(folder, "a.json")), "whsec_") {
		t.Error("the export lacks the secret")
	}
	program.MustRun(t, "import", filepath.Join(folder, "a.json"), "--data", filepath.Join(folder, "plain.db"))
	program.MustRun(t, "export", filepath.Join(folder, "b.json"), "--data", filepath.Join(folder, "plain.db"))
	if kit.ReadText(t, filepath.Join(folder, "a.json")) != kit.ReadText(t, filepath.Join(folder, "b.json")) {
		t.Error("the exports differ")
	}
}
