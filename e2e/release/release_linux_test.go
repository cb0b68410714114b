package release

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"teamdata/e2e/kit"
)

// releaseVersion is the version of the release in these tests.
const releaseVersion = "v0.0.1-test"

// makeRelease runs .ci/release of a copy of the repository. It releases what is
// committed.
func makeRelease(t *testing.T, repository, folder string, args ...string) (said string) {
	t.Helper()
	cmd := exec.Command(".ci/release", append(args, releaseVersion, folder)...)
	cmd.Dir = repository
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// The commands by which docs/upgrade.md has a release verified, in its folder.
const (
	checkSignature = "ssh-keygen -Y verify -f allowed_signers -I teamdata -n file -s SHA256SUMS.sig < SHA256SUMS"
	checkSums      = "sha256sum -c SHA256SUMS"
)

// newReleaseKey makes a key, and returns the file of its private half.
func newReleaseKey(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// A release made twice, from copies of the repository in two folders, is the same to
// the byte. Whatever is changed in it is noticed by the two commands of the docs.
func TestRelease(t *testing.T) {
	kit.OnlyAtSize(t)
	for _, tool := range []string{"git", "ssh-keygen", "zip"} {
		if _, err := exec.LookPath(tool); err != nil {
			kit.MustSkip(t, tool+" is not installed; on Debian: apt-get install git openssh-client zip")
		}
	}
	key := newReleaseKey(t)
	clone, first, second := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	if out, err := exec.Command("git", "clone", "--quiet", ".", clone).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	platforms := []string{"--platforms", "linux/" + runtime.GOARCH}
	if kit.Size(0, 100) == 100 {
		platforms[1] += " windows/amd64"
	}
	if said := makeRelease(t, ".", first, append(platforms, "--key", key)...); strings.Contains(said, "NOT SIGNED") || !strings.Contains(said, "THIS RELEASE HAS NO PACKAGES AND NO IMAGE") {
		t.Errorf("it said\n%s", said)
	}
	makeRelease(t, clone, second, append(platforms, "--key", key)...)
	sameFolders(t, first, second)

	t.Run("verified", func(t *testing.T) { verified(t, first) })
	t.Run("by docs/install.md", func(t *testing.T) { pageInstalls(t, first, releaseVersion) })
	t.Run("bill of materials", func(t *testing.T) { billsOfMaterials(t, first, strings.Fields(platforms[1])) })
	t.Run("source", func(t *testing.T) { sourceIsCommitted(t, filepath.Join(first, "teamdata_"+releaseVersion+"_source")) })
	t.Run("changed", func(t *testing.T) { changedFilesNoticed(t, first) })
	t.Run("unsigned", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "unsigned")
		if said := makeRelease(t, clone, folder, "--platforms", "linux/"+runtime.GOARCH); !strings.Contains(said, "THIS RELEASE IS NOT SIGNED") {
			t.Errorf("it said\n%s", said)
		}
		allListed(t, folder)
		mustPass(t, folder, checkSums)
		mustFail(t, folder, checkSignature, "Could not verify signature")
	})
}

// A wrong command line ends with 2 and makes nothing.
func TestReleaseUsage(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		kit.MustSkip(t, "ssh-keygen is not installed; on Debian: apt-get install openssh-client")
	}
	there, folder, key := t.TempDir(), filepath.Join(t.TempDir(), "release"), filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		want string
		args []string
	}{
		{"usage: .ci/release", nil},
		{"usage: .ci/release", []string{releaseVersion}},
		{"usage: .ci/release", []string{"0.1", folder}},
		{"usage: .ci/release", []string{"--kee", key, releaseVersion, folder}},
		{there + " exists already", []string{releaseVersion, there}},
		{key + " is not an Ed25519 key", []string{"--key", key, releaseVersion, folder}},
	} {
		out, err := exec.Command(".ci/release", test.args...).CombinedOutput()
		failed, ok := err.(*exec.ExitError)
		if _, made := os.Stat(folder); !ok || failed.ExitCode() != 2 || !strings.Contains(string(out), test.want) || made == nil {
			t.Errorf("%v ended with %v, not with 2 and %q:\n%s", test.args, err, test.want, out)
		}
	}
}

// filesOf are the files below a folder.
func filesOf(t *testing.T, folder string) (files []string) {
	t.Helper()
	kit.Must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path, err = filepath.Rel(folder, path)
			files = append(files, path)
		}
		return err
	}))
	return files
}

func sameFolders(t *testing.T, a, b string) {
	t.Helper()
	files := filesOf(t, a)
	if others := filesOf(t, b); strings.Join(files, " ") != strings.Join(others, " ") {
		t.Fatalf("one release has %v, and the other %v", files, others)
	}
	for _, file := range files {
		if kit.ReadText(t, filepath.Join(a, file)) != kit.ReadText(t, filepath.Join(b, file)) {
			t.Errorf("%s differs", file)
		}
	}
}

// verified checks a release by the commands that the docs name, and refuses a wrong key.
func verified(t *testing.T, folder string) {
	for _, page := range []string{"docs/install.md", "SECURITY.md", "docs/upgrade.md"} {
		text := kit.ReadText(t, page)
		if !strings.Contains(text, "\n"+checkSignature+"\nsha256sum -c ") {
			t.Errorf("%s does not say how to verify a release", page)
		}
	}
	allListed(t, folder)
	mustPass(t, folder, checkSignature)
	mustPass(t, folder, checkSums)
	other := strings.Fields(kit.ReadText(t, newReleaseKey(t)+".pub"))
	signers := filepath.Join(t.TempDir(), "allowed_signers")
	kit.WriteFile(t, signers, "teamdata namespaces=\"file\" "+other[0]+" "+other[1]+"\n")
	mustFail(t, folder, strings.Replace(checkSignature, "allowed_signers", signers, 1), "Could not verify signature")
}

// allListed checks that the sums are those of all files but themselves and their
// signature.
func allListed(t *testing.T, folder string) {
	t.Helper()
	listed := map[string]bool{"SHA256SUMS": true, "SHA256SUMS.sig": true}
	for line := range strings.Lines(kit.ReadText(t, filepath.Join(folder, "SHA256SUMS"))) {
		_, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[file] = true
	}
	for _, file := range filesOf(t, folder) {
		if !listed[file] {
			t.Errorf("%s is not in SHA256SUMS", file)
		}
	}
}

func shellIn(folder, line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustPass(t *testing.T, folder, line string) {
	t.Helper()
	if out, err := shellIn(folder, line); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// mustFail holds a command to a failure that says a text.
func mustFail(t *testing.T, folder, line, want string) {
	t.Helper()
	if out, err := shellIn(folder, line); err == nil || !strings.Contains(out, want) {
		t.Errorf("%s ended with %v, and without %q:\n%s", line, err, want, out)
	}
}

// changedFilesNoticed changes a byte of each file, and removes it.
func changedFilesNoticed(t *testing.T, folder string) {
	for _, file := range filesOf(t, folder) {
		path := filepath.Join(folder, file)
		content := kit.ReadText(t, path)
		middle := len(content) / 2
		check, changed, missing := checkSums, file+": FAILED\n", file+": FAILED open or read\n"
		if strings.HasPrefix(file, "SHA256SUMS") {
			check, changed, missing = checkSignature, "", "" // in words of the shell or of OpenSSH
		}
		kit.Must(t, os.WriteFile(path, []byte(content[:middle]+string([]byte{content[middle] ^ 1})+content[middle+1:]), 0o644))
		mustFail(t, folder, check, changed)
		kit.Must(t, os.Remove(path))
		mustFail(t, folder, check, missing)
		kit.Must(t, os.WriteFile(path, []byte(content), 0o644))
	}
	mustPass(t, folder, checkSignature)
	mustPass(t, folder, checkSums)
}

// sourceIsCommitted compares the archive of the source with what is committed.
func sourceIsCommitted(t *testing.T, archive string) {
	folder := t.TempDir()
	mustPass(t, folder, "tar xzf "+archive+".tar.gz")
	folder = filepath.Join(folder, filepath.Base(archive))
	out, err := exec.Command("git", "ls-tree", "-r", "--full-tree", "--format=%(objectname) %(path)", "HEAD").Output()
	kit.Must(t, err)
	files := filesOf(t, folder)
	if n := strings.Count(string(out), "\n"); len(files) != n {
		t.Errorf("the source has %d files, and the commit %d", len(files), n)
	}
	hash := exec.Command("git", "hash-object", "--no-filters", "--stdin-paths")
	hash.Dir, hash.Stdin = folder, strings.NewReader(strings.Join(files, "\n"))
	hashes, err := hash.Output()
	kit.Must(t, err)
	for i, sum := range strings.Fields(string(hashes)) {
		if line := sum + " " + files[i] + "\n"; !strings.Contains("\n"+string(out), "\n"+line) {
			t.Errorf("%s is not as it is committed", files[i])
		}
	}
}

var dependency = regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)\th1:(\S+)$`)

// billsOfMaterials compares what the bills list with what `go version -m` says of the
// programs in the archives, and these with their version.
func billsOfMaterials(t *testing.T, folder string, platforms []string) {
	schema := cycloneDX(t)
	for _, platform := range platforms {
		name := "teamdata_" + releaseVersion + "_" + strings.Replace(platform, "/", "_", 1)
		if err := schema.Validate(parsed(t, filepath.Join(folder, name+".cdx.json"))); err != nil {
			t.Errorf("%s is not CycloneDX: %v", name, err)
		}
		type component struct {
			Name, Version string
			Hashes        []struct{ Alg, Content string }
		}
		var bom struct {
			Metadata struct {
				Component  component
				Properties []struct{ Name, Value string }
			}
			Components []component
		}
		kit.Must(t, json.Unmarshal([]byte(kit.ReadText(t, filepath.Join(folder, name+".cdx.json"))), &bom))
		var listed, linked []string
		for _, c := range bom.Components {
			line := c.Name + " " + c.Version
			for _, h := range c.Hashes {
				line += " " + h.Alg + " " + h.Content
			}
			listed = append(listed, line)
		}
		binary := unpack(t, filepath.Join(folder, name))
		checkLicenses(t, binary, filepath.Join(filepath.Dir(binary), "licenses"))
		out, err := exec.Command("go", "version", "-m", binary).Output()
		kit.Must(t, err)
		for _, found := range dependency.FindAllStringSubmatch(string(out), -1) {
			sum, err := base64.StdEncoding.DecodeString(found[3])
			kit.Must(t, err)
			linked = append(linked, strings.Join([]string{found[1], found[2], "SHA-256", hex.EncodeToString(sum)}, " "))
		}
		modules := len(linked)
		linked = append(linked, "std "+strings.TrimSpace(kit.ReadText(t, ".ci/go-version")))
		if a, b := strings.Join(listed, "\n"), strings.Join(linked, "\n"); a != b || modules != strings.Count(string(out), "\tdep\t") || modules < 10 {
			t.Errorf("%s lists\n%s\nand not\n%s", name, a, b)
		}
		if c := bom.Metadata.Component; c.Name != "teamdata" || c.Version != releaseVersion {
			t.Errorf("%s is about %s %s", name, c.Name, c.Version)
		}
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(kit.ReadText(t, binary))))
		if !slices.ContainsFunc(bom.Metadata.Properties, func(p struct{ Name, Value string }) bool {
			return p.Name == "cdx:gomod:binary:hash:SHA-256" && p.Value == sum
		}) {
			t.Errorf("%s is not about a program with the hash %s", name, sum)
		}
	}
}

// cycloneDX is the schema of such bills, out of the module of its makers.
func cycloneDX(t *testing.T) *jsonschema.Schema {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", "github.com/CycloneDX/cyclonedx-go@v0.12.0")
	cmd.Dir = t.TempDir() // outside of this module
	out, err := cmd.Output()
	kit.Must(t, err)
	var module struct{ Dir string }
	kit.Must(t, json.Unmarshal(out, &module))
	c := jsonschema.NewCompiler()
	for file, url := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schemax.json": "jsf-0.82.schema.json",
	} {
		kit.Must(t, c.AddResource("http://cyclonedx.org/schema/"+url, parsed(t, filepath.Join(module.Dir, "schema", file))))
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	kit.Must(t, err)
	return schema
}

func parsed(t *testing.T, file string) any {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(kit.ReadText(t, file)))
	kit.Must(t, err)
	return document
}

// companions are some of what comes with the program, in archives and packages.
var companions = []string{"README.md", "CHANGELOG.md", "SECURITY.md", "docs/install.md", "contrib/alerts.yml", "contrib/grafana.json",
	"contrib/compose.yml", "client/client.go", "contrib/clients/typescript/package.json", "contrib/clients/typescript/src/index.ts"}

// unpack unpacks an archive, looks for what belongs into it, and returns its program.
func unpack(t *testing.T, archive string) (binary string) {
	t.Helper()
	folder := t.TempDir()
	top := filepath.Join(folder, filepath.Base(archive))
	binary = filepath.Join(top, "teamdata")
	if z, err := zip.OpenReader(archive + ".zip"); err == nil {
		defer z.Close()
		binary += ".exe"
		kit.Must(t, os.CopyFS(folder, z))
	} else if out, err := exec.Command("tar", "xzf", archive+".tar.gz", "-C", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range append([]string{"LICENSE", "contrib/systemd/teamdata.service",
		"contrib/systemd/teamdata.env", "contrib/systemd/teamdata.sysusers", "man/teamdata-serve.1",
		"completions/teamdata.bash", "completions/_teamdata", "completions/teamdata.fish", "completions/teamdata.ps1"}, companions...) {
		if info, err := os.Stat(filepath.Join(top, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s has no %s: %v", archive, file, err)
		}
	}
	if strings.Contains(archive, "_linux_") {
		said, err := exec.Command(binary, "version").Output()
		if want := "teamdata " + releaseVersion + " " + strings.TrimSpace(kit.ReadText(t, ".ci/go-version")) + " linux/" + runtime.GOARCH + "\n"; err != nil || string(said) != want {
			t.Errorf("its version is %s, not %s: %v", said, want, err)
		}
	}
	return binary
}
