package release

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// licensesOf collects the licenses of a program.
func licensesOf(t *testing.T, binary string) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "licenses")
	if out, err := exec.Command(".ci/licenses", binary, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// A release has the licenses of all that is linked into the program.
func TestLicenses(t *testing.T) {
	binary := program.Binary(t)
	checkLicenses(t, binary, licensesOf(t, binary))

	missing := exec.Command(".ci/licenses", binary, t.TempDir())
	missing.Env = append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=")
	if out, err := missing.CombinedOutput(); err == nil || !strings.Contains(string(out), "golang.org/x/text@") {
		t.Errorf("without the modules it ended with %v\n%s", err, out)
	}
}

// terms is what any license has in it.
var terms = regexp.MustCompile(`(?i)copyright|licensed under`)

// checkLicenses compares a folder of licenses with what `go version -m` says of a program.
func checkLicenses(t *testing.T, binary, folder string) {
	t.Helper()
	built, err := exec.Command("go", "version", "-m", binary).Output()
	kit.Must(t, err)
	first, _, _ := strings.Cut(string(built), "\n")
	want := []string{"inter", "std@" + first[strings.LastIndex(first, " ")+1:], "teamdata"}
	for _, found := range dependency.FindAllStringSubmatch(string(built), -1) {
		want = append(want, found[1]+"@"+found[2])
	}
	if n := strings.Count(string(built), "\tdep\t"); len(want) != n+3 || n < 10 {
		t.Errorf("%d of %d modules were read", len(want)-3, n)
	}
	texts := map[string]string{}
	kit.Must(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		i := slices.IndexFunc(want, func(name string) bool { return strings.HasPrefix(path, name+"/") })
		if i < 0 {
			t.Errorf("%s is of nothing that is linked", path)
			return nil
		}
		texts[want[i]] += kit.ReadText(t, filepath.Join(folder, path))
		return nil
	}))
	for _, name := range want {
		if !terms.MatchString(texts[name]) {
			t.Errorf("%s has no license:\n%s", name, texts[name])
		}
	}
}
