package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// installBlock is a block of docs/install.md, by its name, and for a release of a
// version.
func installBlock(t *testing.T, name, version string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)\n```sh " + name + "\n(.*?)```").FindStringSubmatch(kit.ReadText(t, "docs/install.md"))
	if block == nil {
		t.Fatalf("docs/install.md has no block %q", name)
	}
	return strings.NewReplacer("v"+newest(t), version, newest(t), strings.TrimPrefix(version, "v")).Replace(block[1])
}

// pageInstalls pastes how docs/install.md checks a release and installs an archive, in the
// folder of one, up to an event that is verified.
func pageInstalls(t *testing.T, release, version string) {
	folder := t.TempDir()
	kit.Must(t, os.CopyFS(folder, os.DirFS(release)))
	if out, err := shellIn(folder, "set -e\n"+installBlock(t, "check", version)); err != nil || !strings.Contains(out, "Good \"file\" signature for teamdata") {
		t.Errorf("checked with %v\n%s", err, out)
	}
	built := filepath.Join(t.TempDir(), "teamdata")
	if out, err := shellIn(".", strings.Replace(installBlock(t, "go", version), "-o teamdata", "-o "+built, 1)+built+" version"); err != nil || !strings.Contains(out, "teamdata ") {
		t.Errorf("built with %v\n%s", err, out)
	}
	script := strings.NewReplacer("amd64", runtime.GOARCH, "./teamdata serve", "exec ./teamdata serve --listen 127.0.0.1:0").Replace(installBlock(t, "archive", version))
	start := exec.Command("sh", "-e", "-c", script)
	start.Dir = folder
	p := program.Begin(t, start)
	p.Await("the commands to paste", func() bool { return strings.Contains(p.Out.String(), "Stop with Ctrl-C") })
	send := regexp.MustCompile(`(?m)^ +(curl .*/test)$`).FindStringSubmatch(p.Out.String())
	if send == nil {
		t.Fatalf("the demo has no command that sends an event:\n%s", p.Out)
	}
	if out, err := shellIn(folder, send[1]); err != nil {
		t.Errorf("%s: %v\n%s", send[1], err, out)
	}
	p.Await("a verified event", func() bool { return strings.Contains(p.Out.String(), "  verified\n") })
	p.StopWell()
	installed(t, filepath.Join(folder, "teamdata_"+version+"_linux_"+runtime.GOARCH))
	linksLead(t, filepath.Join(folder, "teamdata_"+version+"_linux_"+runtime.GOARCH))
}

// installed pastes what docs/install.md says to install from an archive, into another
// root than that of this machine.
func installed(t *testing.T, archive string) {
	t.Helper()
	_, section, _ := strings.Cut(kit.ReadText(t, "docs/install.md"), "\n## From an archive\n")
	block := regexp.MustCompile("(?s)```\n(.*?)```").FindStringSubmatch(section)
	if block == nil {
		t.Fatal("docs/install.md installs nothing")
	}
	root := t.TempDir()
	kit.Must(t, os.MkdirAll(filepath.Join(root, "usr/local/bin"), 0o755))
	if out, err := shellIn(archive, "set -e\n"+strings.ReplaceAll(block[1], "/usr/local", root+"/usr/local")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, file := range []string{"bin/teamdata", "share/man/man1/teamdata-serve.1", "share/bash-completion/completions/teamdata.bash"} {
		if _, err := os.Stat(filepath.Join(root, "usr/local", file)); err != nil {
			t.Error(err)
		}
	}
}

// linksLead checks that the pages in an archive link to files that it has.
func linksLead(t *testing.T, archive string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(archive, "*.md"))
	kit.Must(t, err)
	docs, err := filepath.Glob(filepath.Join(archive, "docs/*.md"))
	kit.Must(t, err)
	if len(pages) < 4 || len(docs) < 10 {
		t.Errorf("the archive has the pages %v %v", pages, docs)
	}
	link := regexp.MustCompile(`\]\(([^)\s#:]+)(?:#[^)\s]*)?\)`)
	for _, page := range append(pages, docs...) {
		for _, found := range link.FindAllStringSubmatch(kit.ReadText(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
				t.Errorf("%s links to %s, which is not in the archive", filepath.Base(page), found[1])
			}
		}
	}
}

// loadAsPageSays follows the way of docs/install.md from the image of a release to Docker, up to
// its daemon, for which an archive in Docker's form stands.
func loadAsPageSays(t *testing.T, folder, version string) {
	t.Helper()
	load, run, _ := strings.Cut(installBlock(t, "image", version), "\n")
	name := strings.TrimPrefix(version, "v")
	if want := "docker-daemon:teamdata:" + name; !strings.HasSuffix(load, want) || !strings.HasSuffix(strings.TrimSpace(run), " teamdata:"+name) {
		t.Fatalf("docs/install.md does not load the image as what it runs:\n%s\n%s", load, run)
	}
	line := strings.Replace(load, "skopeo copy", "skopeo --insecure-policy copy", 1) // whose policy is a package of its own
	line = strings.Replace(line, "docker-daemon:", "docker-archive:loaded.tar:", 1)
	if out, err := shellIn(folder, line); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	if said, err := shellIn(folder, "tar -xOf loaded.tar manifest.json"); err != nil || !strings.Contains(said, `"RepoTags":["docker.io/library/teamdata:`+name+`"]`) {
		t.Errorf("it was loaded as %s, %v", said, err)
	}
}
