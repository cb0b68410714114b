package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// directive is a line of a Dockerfile, or of a unit file.
type directive struct{ name, value string }

// directives are the lines of a file that are of the form "NAME value" or
// "NAME=value", as the separator says.
func directives(t *testing.T, file, separator string) (found []directive) {
	t.Helper()
	for line := range strings.Lines(readText(t, file)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), separator)
		if ok && !strings.HasPrefix(name, "#") {
			found = append(found, directive{name, value})
		}
	}
	return found
}

// valueOf is the value of the only directive of a name.
func valueOf(t *testing.T, list []directive, name string) (value string) {
	t.Helper()
	n := 0
	for _, d := range list {
		if d.name == name {
			value = d.value
			n++
		}
	}
	if n != 1 {
		t.Fatalf("there are %d lines with %s", n, name)
	}
	return value
}

// commandNamed is a command of the program.
func commandNamed(t *testing.T, name string) *cobra.Command {
	t.Helper()
	found, _, err := command().Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The unit starts serve with flags that there are.
func TestUnitFlags(t *testing.T) {
	line := strings.Fields(valueOf(t, directives(t, "contrib/systemd/teamdata.service", "="), "ExecStart"))
	if line[1] != "serve" {
		t.Fatalf("it starts %v", line)
	}
	if err := commandNamed(t, "serve").ParseFlags(line[2:]); err != nil {
		t.Error(err)
	}
}

// Each line of the environment's example sets a flag to a value that it takes,
// the lines that are commented out too.
func TestEnvironmentExample(t *testing.T) {
	flags := commandNamed(t, "serve").Flags()
	known := map[string]string{}
	for _, name := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(flags.FlagUsages(), -1) {
		known[environmentName(name[1])] = name[1]
	}
	lines := regexp.MustCompile(`(?m)^#?(TEAMDATA_\w+)=(.+)$`).FindAllStringSubmatch(readText(t, "contrib/systemd/teamdata.env"), -1)
	if len(lines) == 0 {
		t.Error("there is no line")
	}
	for _, line := range lines {
		name, isFile := known[line[1]], false
		if name == "" {
			name = known[strings.TrimSuffix(line[1], "_FILE")]
			isFile = true
		}
		flag := flags.Lookup(name)
		switch {
		case flag == nil:
			t.Errorf("no flag is set by %s", line[1])
		case isFile:
			if _, secret := flag.Annotations[secretFlag]; !secret {
				t.Errorf("%s: --%s is no secret, and is not read from a file", line[1], name)
			}
		default:
			if err := flags.Set(name, line[2]); err != nil {
				t.Error(err)
			}
		}
	}
}

// systemd finds nothing wrong with the unit, and little that it leaves open.
func TestUnitVerifies(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		mustSkip(t, "systemd-analyze is not installed; on Debian: apt-get install systemd")
	}
	unit := filepath.Join(t.TempDir(), "teamdata.service")
	writeFile(t, unit, strings.Replace(readText(t, "contrib/systemd/teamdata.service"), "/usr/local/bin/teamdata", binary, 1))
	for _, args := range [][]string{{"verify", unit}, {"security", "--offline=true", "--threshold=20", unit}} {
		if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// buildContext copies what .dockerignore lets into the build.
func buildContext(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	ignored := strings.Fields(readText(t, ".dockerignore"))
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || file == ".":
			return err
		case isIgnored(file, ignored) && entry.IsDir():
			return fs.SkipDir
		case isIgnored(file, ignored) || !entry.IsDir() && !entry.Type().IsRegular():
			return nil
		case entry.IsDir():
			return os.Mkdir(filepath.Join(folder, file), 0o700)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, file), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func isIgnored(file string, patterns []string) bool {
	for _, pattern := range patterns {
		anywhere, ok := strings.CutPrefix(pattern, "**/")
		if matched, _ := path.Match(anywhere, path.Base(file)); ok && matched || pattern == file {
			return true
		}
	}
	return false
}
