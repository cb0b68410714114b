package program

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
)

// plain lists the tests that run the program without the race detector, and why. Benchmarks
// always do.
var plain = map[string]string{
	"TestUnitStarts":               "it runs in a root without libraries, as only the released program can",
	"TestImage":                    "it runs in a root without libraries, as only the released program can",
	"TestPackages":                 "it runs in a root without libraries, as only the released program can",
	"TestPowerCut":                 "each of its writes is traced",
	"TestNamesAreSynced":           "each of its writes is traced",
	"TestNoOutboundConnection":     "each of its connections is traced, and cgo resolves names in another way",
	"TestMigrateThereAndBack":      "its memory is measured",
	"TestMigrateKilled":            "its memory is measured",
	"TestMemberBatches":            "its time is measured",
	"TestOrgDeletedBesideABusyOne": "its time is measured",
	"TestUnreadAnswers":            "its memory is measured",
	"TestCommandsStartLean":        "it counts the bytes that a start allocates",
}

// folder is where the programs and what the race detector finds in them are, while Main runs.
var folder string

// Main runs the tests of a package in the module's root, from which all their paths are. It
// fails if the race detector found anything in the program that they started.
func Main(m *testing.M) {
	kit.MostlyWait()
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	root, err := kit.Root()
	if err == nil {
		err = os.Chdir(root)
	}
	if err == nil {
		folder, err = os.MkdirTemp("", "teamdata-test-")
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	// A killed program has no exit status of its own, so races go to files. By default a raced
	// program also waits a second at its end, and tests run hundreds of commands.
	os.Setenv("GORACE", "atexit_sleep_ms=0 log_path="+filepath.Join(folder, "race"))
	status = m.Run()
	found, _ := filepath.Glob(filepath.Join(folder, "race.*"))
	for _, file := range found {
		text, _ := os.ReadFile(file)
		fmt.Printf("found in the program by the race detector:\n%s\n", text)
		status = 1
	}
	return status
}

// Binary is the program as the test wants it: with the race detector if the test has it, too.
func Binary(t testing.TB) string {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	_, benchmark := t.(*testing.B)
	build := buildRaced
	if _, listed := plain[name]; !kit.Raced || listed || benchmark {
		build = buildPlain
	}
	binary, err := build()
	kit.Must(t, err)
	return binary
}

// The cache of builds keeps what `go run` has linked. That with the race detector shares the
// packages that are compiled for the tests.
var (
	buildPlain = sync.OnceValues(func() (string, error) { return link("plain", "0", "-trimpath") })
	buildRaced = sync.OnceValues(func() (string, error) { return link("raced", "1", "-race") })
)

func link(name, cgo, flag string) (string, error) {
	binary := filepath.Join(folder, name, "teamdata")
	if err := os.Mkdir(filepath.Dir(binary), 0o755); err != nil {
		return "", err
	}
	build := exec.Command("go", "run", flag, "-exec", "cp", ".", binary)
	build.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// Build builds the program with a version, and with files in place of the module's or
// beside them: their contents, by their paths from the root. It returns the binary.
func Build(t testing.TB, version string, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, content := range files {
		absolute, err := filepath.Abs(path)
		kit.Must(t, err)
		overlay.Replace[absolute] = filepath.Join(folder, fmt.Sprint(len(overlay.Replace)))
		kit.WriteFile(t, overlay.Replace[absolute], content)
	}
	text, err := json.Marshal(overlay)
	kit.Must(t, err)
	kit.WriteFile(t, filepath.Join(folder, "overlay.json"), string(text))
	binary := filepath.Join(folder, "teamdata")
	build := exec.Command("go", "build", "-trimpath", "-overlay", filepath.Join(folder, "overlay.json"), "-ldflags", "-s -w -X main.buildVersion="+version, "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
