package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// directive is a line of a Dockerfile, or of a unit file.
type directive struct{ name, value string }

// directives are the lines of a file that are of the form "NAME value" or
// "NAME=value", as the separator says.
func directives(t *testing.T, file, separator string) (found []directive) {
	t.Helper()
	for line := range strings.Lines(kit.ReadText(t, file)) {
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

// units are the files of contrib/systemd, with the names that they are installed by.
var units = map[string]string{
	"teamdata.service":        "contrib/systemd/teamdata.service",
	"teamdata@node-1.service": "contrib/systemd/teamdata@.service",
	"teamdata-audit.service":  "contrib/systemd/teamdata-audit.service",
}

// The socket is verified beside the service that it starts.
func TestSocketUnitVerifies(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		kit.MustSkip(t, "systemd-analyze is not installed; on Debian: apt-get install systemd")
	}
	folder := t.TempDir()
	for _, name := range []string{"teamdata.socket", "teamdata.service"} {
		kit.WriteFile(t, filepath.Join(folder, name), strings.Replace(kit.ReadText(t, "contrib/systemd/"+name), "/usr/local/bin/teamdata", program.Binary(t), 1))
	}
	if out, err := exec.Command("systemd-analyze", "verify", filepath.Join(folder, "teamdata.socket")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The units start serve with flags that there are.
func TestUnitFlags(t *testing.T) {
	for name, file := range units {
		line := strings.Fields(valueOf(t, directives(t, file, "="), "ExecStart"))
		if strings.HasPrefix(name, "teamdata-audit") {
			continue
		}
		if line[1] != "serve" {
			t.Fatalf("%s starts %v", name, line)
		}
		cmd := exec.Command(program.Binary(t), append([]string{"config", "check"}, line[2:]...)...)
		for i, word := range cmd.Args {
			cmd.Args[i] = strings.ReplaceAll(word, "%i", "node-1")
		}
		if strings.Contains(name, "@") {
			cmd.Env = append(os.Environ(), "TEAMDATA_DATA=postgres://teamdata@db.example.com/teamdata")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// The unit of the audit log starts a command that works: it waits for the server.
func TestAuditUnitFlags(t *testing.T) {
	line := strings.Fields(valueOf(t, directives(t, units["teamdata-audit.service"], "="), "ExecStart"))
	folder := t.TempDir()
	for i, word := range line {
		line[i] = strings.NewReplacer("/var/log/teamdata", folder, "/var/lib/teamdata", folder).Replace(word)
	}
	p := program.Begin(t, exec.Command(program.Binary(t), line[1:]...))
	p.Says("no server listens on " + folder + "/teamdata.db.sock; trying again")
	p.StopWell()
	if _, err := os.Stat(folder + "/audit.jsonl.cursor"); err != nil {
		t.Error(err)
	}
}

// Each line of the environment's example sets a flag to a value that it takes, the
// lines that are commented out too.
func TestEnvironmentExample(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^#?(TEAMDATA_\w+)=(.+)$`).FindAllStringSubmatch(kit.ReadText(t, "contrib/systemd/teamdata.env"), -1)
	if len(lines) == 0 {
		t.Error("there is no line")
	}
	for _, line := range lines {
		name, value := line[1], line[2]
		if strings.HasSuffix(name, "_FILE") && strings.Contains(name, "SMTP_URL") { // it is read here already
			value = filepath.Join(t.TempDir(), "value")
			kit.WriteFile(t, value, "smtp://localhost")
		}
		cmd := exec.Command(program.Binary(t), "config", "--json")
		cmd.Env = append(os.Environ(), name+"="+value)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"variable": "`+name+`"`) {
			t.Errorf("%s=%s sets no flag: %v\n%s", name, value, err, out)
		}
	}
}

// systemd finds nothing wrong with the units, and little that they leave open.
func TestUnitVerifies(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		kit.MustSkip(t, "systemd-analyze is not installed; on Debian: apt-get install systemd")
	}
	for name, file := range units {
		unit := filepath.Join(t.TempDir(), name)
		kit.WriteFile(t, unit, strings.Replace(kit.ReadText(t, file), "/usr/local/bin/teamdata", program.Binary(t), 1))
		for _, args := range [][]string{{"verify", unit}, {"security", "--offline=true", "--threshold=20", unit}} {
			if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
				t.Errorf("%v: %v\n%s", args, err, out)
			}
		}
	}
}

// The drop-in of docs/postgresql.md makes a unit that systemd finds nothing wrong with,
// with one command.
func TestDatabaseUnitVerifies(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		kit.MustSkip(t, "systemd-analyze is not installed; on Debian: apt-get install systemd")
	}
	_, section, _ := strings.Cut(kit.ReadText(t, "docs/postgresql.md"), "\n## systemd\n")
	_, block, _ := strings.Cut(section, "```ini\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("docs/postgresql.md has no drop-in")
	}
	unit := filepath.Join(t.TempDir(), "teamdata.service")
	dropIn := filepath.Join(unit+".d", "database.conf")
	kit.Must(t, os.Mkdir(filepath.Dir(dropIn), 0o755))
	for file, text := range map[string]string{unit: kit.ReadText(t, "contrib/systemd/teamdata.service"), dropIn: block} {
		kit.WriteFile(t, file, strings.ReplaceAll(text, "/usr/local/bin/teamdata", program.Binary(t)))
	}
	if out, err := exec.Command("systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// buildContext copies what the COPY lines of the Dockerfile's first stage name.
func buildContext(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, d := range directives(t, "Dockerfile", " ") {
		words := strings.Fields(d.value)
		switch {
		case d.name == "FROM" && d.value == "scratch":
			return folder
		case d.name == "COPY":
			for _, from := range words[:len(words)-1] {
				copyInto(t, from, filepath.Join(folder, from))
			}
		}
	}
	t.Fatal("the Dockerfile has no last stage")
	return ""
}

// copyInto copies a file, or a folder with all that is in it.
func copyInto(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		kit.Must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		err = os.WriteFile(to, []byte(kit.ReadText(t, from)), info.Mode())
	}
	kit.Must(t, err)
}
