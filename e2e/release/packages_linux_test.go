package release

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// What the packages' scripts do with systemd and without it, for both kinds of package.
func TestPackageScripts(t *testing.T) {
	t.Parallel()
	d := newDistribution(t)
	kit.Must(t, os.MkdirAll(d.at("scripts"), 0o755))
	for _, script := range []string{"postinstall", "preremove", "postremove"} {
		d.put("contrib/package/"+script+".sh", "scripts/"+script)
	}
	d.nodes = []string{"teamdata@a.service", "teamdata@b.service"}
	const list = "list-units --plain --no-legend --full teamdata@*.service"
	restarts := []string{"daemon-reload", "try-restart teamdata.service", list, "try-restart teamdata@a.service", "try-restart teamdata@b.service", "try-restart teamdata-audit.service"}
	stops := []string{"disable --now teamdata-audit.service teamdata.socket teamdata.service", list, "disable --now teamdata@a.service", "disable --now teamdata@b.service"}
	for _, call := range []struct {
		line string
		want []string
	}{
		{"postinstall configure", restarts}, {"postinstall configure 1.2.3", restarts}, {"postinstall 1", restarts}, {"postinstall 2", restarts},
		{"postinstall abort-upgrade 1.2.3", nil},
		{"preremove upgrade 1.2.4", nil}, {"preremove 1", nil}, {"preremove remove", stops}, {"preremove 0", stops},
		{"postremove upgrade 1.2.4", nil}, {"postremove 1", nil}, {"postremove remove", restarts[:1]}, {"postremove purge", restarts[:1]}, {"postremove 0", restarts[:1]},
	} {
		d.requests = nil
		said := d.sh("/scripts/" + call.line)
		if !slices.Equal(d.requests, call.want) {
			t.Errorf("%s asks systemd for %q", call.line, d.requests)
		}
		if gone := call.line == "postremove remove" || call.line == "postremove purge" || call.line == "postremove 0"; gone != strings.Contains(said, "kept in /var/lib/teamdata") {
			t.Errorf("%s says %s", call.line, said)
		}
	}
	d.checkState()
	kit.Must(t, os.Remove(d.at("run/systemd/system")))
	d.requests = nil
	for _, line := range []string{"postinstall configure", "postinstall 2", "preremove remove", "postremove 0"} {
		d.sh("/scripts/" + line)
	}
	if d.requests != nil {
		t.Errorf("without systemd it was asked for %q", d.requests)
	}
}

// checkState checks the folder of the data.
func (d *distribution) checkState() {
	d.t.Helper()
	info, err := os.Stat(d.at("var/lib/teamdata"))
	kit.Must(d.t, err)
	uid, gid := d.userOf("teamdata")
	if s := info.Sys().(*syscall.Stat_t); info.Mode().Perm() != 0o700 || s.Uid != uid || s.Gid != gid || uid == 0 {
		d.t.Errorf("the folder of the data is %v, of %d:%d", info.Mode(), s.Uid, s.Gid)
	}
}

// The versions that are packaged here.
const (
	olderVersion = "v0.9.0"
	newerVersion = "v1.0.0"
)

// built is a folder as .ci/packages takes it: this program as a version for amd64, and for
// arm64 something else beside its licenses, which no test installs.
func built(t *testing.T, version string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for arch, program := range map[string]string{"amd64": program.Build(t, version, nil), "arm64": "contrib/ingest.sh"} {
		kit.Must(t, os.Mkdir(filepath.Join(folder, "linux_"+arch), 0o755))
		copyInto(t, program, filepath.Join(folder, "linux_"+arch, "teamdata"))
	}
	for _, arch := range []string{"amd64", "arm64"} {
		copyInto(t, licensesOf(t, filepath.Join(folder, "linux_amd64", "teamdata")), filepath.Join(folder, "linux_"+arch, "licenses"))
	}
	program.MustRun(t, "man", "--dir", filepath.Join(folder, "man"))
	kit.Must(t, os.Mkdir(filepath.Join(folder, "completions"), 0o755))
	for _, shell := range []string{"bash", "fish", "zsh"} {
		kit.WriteFile(t, filepath.Join(folder, "completions", "teamdata."+shell), program.MustRun(t, "completion", shell))
	}
	return folder
}

// packages runs a script of .ci on what is built. It has no name of a machine, nor the time
// of day, in common with another call.
func packages(t *testing.T, script, build, version, host string) (out string) {
	t.Helper()
	out = t.TempDir()
	cmd := exec.Command("unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, host, script, build, version, out)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1790000000", "TMPDIR="+t.TempDir())
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, said)
	}
	return out
}

// sums are the checksums of a folder's files.
func sums(t *testing.T, folder string) (lines []string) {
	t.Helper()
	kit.Must(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			lines = append(lines, fmt.Sprintf("%x %s", sha256.Sum256([]byte(kit.ReadText(t, filepath.Join(folder, path)))), path))
		}
		return err
	}))
	return lines
}

// kinds are the kinds of packages, by what stands for apt and dnf in a root of its own.
var kinds = map[string]struct{ file, install, remove, purge string }{
	"deb": {"teamdata_%s_amd64.deb", "dpkg --root=$0 --install", "dpkg --root=$0 --remove teamdata", "dpkg --root=$0 --purge teamdata"},
	"rpm": {"teamdata-%s-1.x86_64.rpm", "rpm --root=$0 --upgrade --oldpackage --nodeps", "rpm --root=$0 --erase teamdata", ""},
}

// The packages: installed, upgraded under load, downgraded and removed, with what is said
// in docs/install.md.
func TestPackages(t *testing.T) {
	kit.OnlyAtSize(t)
	for _, tool := range []string{"unshare", "hostname", "dpkg", "rpm"} {
		if _, err := exec.LookPath(tool); err != nil {
			kit.MustSkip(t, tool+" is not installed; on Debian: apt-get install util-linux hostname dpkg rpm")
		}
	}
	if runtime.GOARCH != "amd64" {
		kit.MustSkip(t, "it installs the packages for amd64")
	}
	build := built(t, olderVersion)
	older, again := packages(t, ".ci/packages", build, olderVersion, "one"), packages(t, ".ci/packages", build, olderVersion, "two")
	if one, two := sums(t, older), sums(t, again); !slices.Equal(one, two) || len(one) != 5 {
		t.Errorf("made twice they are\n%s\n%s", strings.Join(one, "\n"), strings.Join(two, "\n"))
	}
	newer := packages(t, ".ci/packages", built(t, newerVersion), newerVersion, "one")
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			p := &packaged{distribution: newDistribution(t), kind: kind, older: older, newer: newer}
			p.story()
		})
	}
}

// packaged is a root in which a package of a kind is installed.
type packaged struct {
	*distribution
	kind         string
	older, newer string // folders with the packages
}

// file is the package of a version.
func (p *packaged) file(version string) string {
	folder := map[string]string{olderVersion: p.older, newerVersion: p.newer}[version]
	return filepath.Join(folder, fmt.Sprintf(kinds[p.kind].file, strings.TrimPrefix(version, "v")))
}

// host runs a command of the package manager's on the root.
func (p *packaged) host(command string, args ...string) string {
	p.t.Helper()
	return p.run(exec.Command("sh", append([]string{"-c", command + ` "$@"`, p.root}, args...)...))
}

func (p *packaged) install(version string) string {
	p.t.Helper()
	return p.host(kinds[p.kind].install, p.file(version))
}

// edited is what an operator adds to the environment file. The test is on this machine
// alone, so that its receiver has no public address.
const edited = "\n# edited\nTEAMDATA_ALLOW_ENDPOINT_CIDR=127.0.0.1/32\nTEAMDATA_WEBHOOK_CA=/etc/teamdata/receiver.ca.pem\nTEAMDATA_CLIENT_RATE=0\n"

const environmentFile = "etc/teamdata/teamdata.env"

func (p *packaged) story() {
	t := p.t
	lines := installLines(t)
	if !strings.Contains(lines[0], strings.ReplaceAll(filepath.Base(p.file(newerVersion)), strings.TrimPrefix(newerVersion, "v"), newest(t))) {
		t.Fatalf("docs/install.md installs by %q, which has no file of the name that packages have", lines[0])
	}
	p.install(olderVersion)
	p.checkFiles()
	before := kit.ReadText(t, p.at(environmentFile))
	if p.service != nil {
		t.Error("it was started before it was configured")
	}
	r := newPackageReceiver(t, p.at("etc/teamdata/receiver.ca.pem"))
	environment := before + edited
	kit.Must(t, os.WriteFile(p.at(environmentFile), []byte(environment), 0o600))
	p.firstEvent(lines[1:], r)

	p.underLoad(r, newerVersion)
	p.systemd(strings.Fields("disable --now teamdata.socket"))
	environment = strings.Replace(environment, "0.0.0.0:8443", kit.Reserved(t), 1)
	kit.Must(t, os.WriteFile(p.at(environmentFile), []byte(environment), 0o600))
	p.turn("teamdata", true)
	p.underLoad(r, olderVersion)
	if kit.ReadText(t, p.at(environmentFile)) != environment {
		t.Error("the environment file is another one")
	}
	p.removed(environment)
}

// installLines are the commands of docs/install.md: from a package to an event.
func installLines(t *testing.T) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(installBlock(t, "package", "v"+newest(t))), "\n")
	if len(lines) > 5 {
		t.Errorf("it takes %d commands", len(lines))
	}
	return lines
}

// checkFiles checks what was installed.
func (p *packaged) checkFiles() {
	p.checkState()
	licence := map[string]string{"deb": "usr/share/doc/teamdata/copyright", "rpm": "usr/share/licenses/teamdata/LICENSE"}[p.kind]
	for path, mode := range map[string]os.FileMode{
		"usr/bin/teamdata": 0o755, "etc/teamdata": os.ModeDir | 0o711, environmentFile: 0o600, licence: 0o644,
		"usr/lib/systemd/system/teamdata.service": 0o644, "usr/lib/systemd/system/teamdata@.service": 0o644, "usr/lib/systemd/system/teamdata.socket": 0o644, "usr/lib/systemd/system/teamdata-audit.service": 0o644,
		"usr/share/man/man1/teamdata-serve.1.gz": 0o644, "usr/share/bash-completion/completions/teamdata": 0o644,
	} {
		info, err := os.Stat(p.at(path))
		if err != nil || info.Mode() != mode {
			p.t.Errorf("%s is %v, %v", path, info, err)
			continue
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 0 || owner.Gid != 0 {
			p.t.Errorf("%s belongs to %d:%d", path, owner.Uid, owner.Gid)
		}
	}
	doc := p.at("usr/share/doc/teamdata")
	for _, file := range companions {
		if info, err := os.Stat(filepath.Join(doc, file)); err != nil || info.Mode() != 0o644 {
			p.t.Errorf("%s is %v, %v", file, info, err)
		}
	}
	linksLead(p.t, doc)
	checkLicenses(p.t, p.at("usr/bin/teamdata"), filepath.Join(doc, "licenses"))
	flags := `rpm --root=$0 --query --queryformat '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' teamdata`
	if p.kind == "rpm" && !strings.Contains(p.host(flags), "cn /"+environmentFile+"\n") { // config, noreplace
		p.t.Errorf("an upgrade may replace the environment file: %s", p.host(flags))
	}
	if line := valueOf(p.t, p.unit("teamdata.service"), "ExecStart"); !strings.HasPrefix(line, "/usr/bin/teamdata serve ") {
		p.t.Errorf("the unit starts %s", line)
	}
}

// removed removes the package, and checks what is left.
func (p *packaged) removed(environment string) {
	t, kind := p.t, kinds[p.kind]
	data := func(said string) {
		t.Helper()
		if !strings.Contains(said, "the data is kept in /var/lib/teamdata") {
			t.Errorf("the removal says %s", said)
		}
		p.checkState()
	}
	data(p.host(kind.remove))
	if _, err := os.Stat(p.at("usr/bin/teamdata")); err == nil || p.service != nil {
		t.Errorf("the program is left: %v, %v", err, p.service)
	}
	kept := environmentFile
	if p.kind == "rpm" {
		kept += ".rpmsave"
	}
	if kit.ReadText(t, p.at(kept)) != environment {
		t.Errorf("%s is not what was edited", kept)
	}
	if kind.purge != "" {
		data(p.host(kind.purge))
		if _, err := os.Stat(p.at(environmentFile)); err == nil {
			t.Error("a purge leaves the environment file")
		}
	}
	if out, err := program.Run(t, "check", "--data", p.at("var/lib/teamdata/teamdata.db")); err != nil {
		t.Errorf("the data that was left: %v\n%s", err, out)
	}
}
