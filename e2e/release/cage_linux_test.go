package release

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// service is the user that the packaged program runs as in these tests.
const service = 65532

// cage is a folder to be the root of a program: read-only but for one folder
// in it.
type cage struct {
	t    *testing.T
	root string
}

// newCage makes a root that holds nothing yet. Its path is short enough for
// sockets in it.
func newCage(t *testing.T) *cage {
	t.Helper()
	if os.Getuid() != 0 {
		kit.MustSkip(t, "only root can change the root of a program")
	}
	root, err := os.MkdirTemp("", "cage-")
	kit.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	kit.Must(t, os.Chmod(root, 0o755))
	return &cage{t, root}
}

// at is where a path in the cage is outside.
func (c *cage) at(path string) string { return filepath.Join(c.root, path) }

// put copies a file, or a folder with all that is in it.
func (c *cage) put(from, to string) {
	c.t.Helper()
	kit.Must(c.t, os.MkdirAll(filepath.Dir(c.at(to)), 0o755))
	info, err := os.Stat(from)
	kit.Must(c.t, err)
	if info.IsDir() {
		kit.Must(c.t, os.MkdirAll(c.at(to), info.Mode().Perm()))
		kit.Must(c.t, os.CopyFS(c.at(to), os.DirFS(from)))
		return
	}
	kit.CopyProgram(c.t, from, c.at(to))
}

// lock makes the root read-only, but for a folder of the service's.
func (c *cage) lock(writable string) {
	c.t.Helper()
	for _, m := range []struct {
		folder string
		flags  uintptr
	}{{c.root, syscall.MS_BIND}, {c.at(writable), syscall.MS_BIND}, {c.root, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY}} {
		if err := syscall.Mount(m.folder, m.folder, "", m.flags, ""); err != nil {
			c.t.Skip("this machine lets nobody mount a read-only root: " + err.Error())
		}
		if m.flags == syscall.MS_BIND {
			c.t.Cleanup(func() { syscall.Unmount(m.folder, syscall.MNT_DETACH) })
		}
	}
	if err := os.WriteFile(c.at("new"), nil, 0o600); err == nil {
		c.t.Fatal("the root is not read-only")
	}
}

// command is a program in the cage, without rights and without a network.
func (c *cage) command(env []string, line ...string) *exec.Cmd {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = "/", env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: c.root, Cloneflags: syscall.CLONE_NEWNET, Credential: &syscall.Credential{Uid: service, Gid: service},
	}
	return cmd
}

// start starts a program that the test is to end.
func (c *cage) start(env []string, line ...string) *program.Process {
	c.t.Helper()
	return program.Begin(c.t, c.command(env, line...))
}

// The image, made by hand from what the Dockerfile says: its RUN lines as they
// stand build the program, its COPY lines fill an empty root, and its own health
// check passes there, with its environment and its user.
func TestContainer(t *testing.T) {
	t.Parallel()
	c, out := newCage(t), t.TempDir()
	file := directives(t, "Dockerfile", " ")
	var env []string
	for _, d := range file {
		switch {
		case d.name == "RUN" && strings.Contains(d.value, "/out/"):
			runLine(t, strings.ReplaceAll(d.value, "/out/", out+"/"))
		case d.name == "COPY" && strings.HasPrefix(d.value, "--from=build "):
			c.copyLine(d.value, out)
		case d.name == "ENV":
			env = append(env, d.value)
		}
	}
	if user := valueOf(t, file, "USER"); user != "65532:65532" {
		t.Errorf("the user is %s", user)
	}
	checkLicenses(t, c.at("teamdata"), c.at("licenses"))
	c.lock(valueOf(t, file, "VOLUME"))
	entry := append(jsonList(t, valueOf(t, file, "ENTRYPOINT")), jsonList(t, valueOf(t, file, "CMD"))...)
	p := c.start(env, entry...)
	_, check, _ := strings.Cut(valueOf(t, file, "HEALTHCHECK"), "CMD ")
	p.Await("the health check", func() bool { return c.command(env, jsonList(t, check)...).Run() == nil })
	if info, err := os.Stat(c.at("data/teamdata.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the data file is %v, %v", info, err)
	}
	p.StopWell()
	if err := c.command(env, jsonList(t, check)...).Run(); err == nil {
		t.Error("the health check passes without a server")
	}

	said, err := c.command(nil, entry[0], "version").Output()
	kit.Must(t, err)
	if !regexp.MustCompile(`^teamdata v0\.0\.1-test go1\.\S+ linux/\w+\n$`).Match(said) {
		t.Errorf("its version is %s", said)
	}
}

// runLine runs a RUN line of the Dockerfile in the build's context.
func runLine(t *testing.T, line string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = buildContext(t), append(os.Environ(), "VERSION=v0.0.1-test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// copyLine does what a COPY line of the last stage says.
func (c *cage) copyLine(line, out string) {
	c.t.Helper()
	words := strings.Fields(line)
	from, to := words[len(words)-2], words[len(words)-1]
	c.put(strings.Replace(from, "/out/", out+"/", 1), to)
	for _, word := range words {
		if owner, ok := strings.CutPrefix(word, "--chown="); ok && owner == "65532:65532" {
			kit.Must(c.t, os.Chown(c.at(to), service, service))
		}
	}
}

func jsonList(t *testing.T, text string) (list []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) == 0 {
		t.Fatalf("%s is not in exec form: %v", text, err)
	}
	return list
}

// The unit's ExecStart as it stands, for a stand-in of systemd: READY=1 comes on
// its socket, then the watchdog's news, and STOPPING=1 at the end.
func TestUnitStarts(t *testing.T) {
	t.Parallel()
	c, unit := newCage(t), directives(t, "contrib/systemd/teamdata.service", "=")
	line := strings.Fields(valueOf(t, unit, "ExecStart"))
	c.put(program.Binary(t), line[0])
	state := "/var/lib/" + valueOf(t, unit, "StateDirectory")
	kit.Must(t, os.MkdirAll(c.at(state), 0o755))
	kit.Must(t, os.Chmod(c.at(state), 0o700))
	kit.Must(t, os.Chown(c.at(state), service, service))
	manager, env := c.manager()
	c.lock(state)

	p := c.start(append(env, environmentOf(t, "contrib/systemd/teamdata.env")...), line...)
	expect(t, p, manager, "READY=1")
	check := append([]string{line[0], "healthcheck"}, line[2:]...)
	if said, err := c.command(nil, check...).CombinedOutput(); err != nil {
		t.Errorf("the health check: %v\n%s", err, said)
	}
	expect(t, p, manager, "WATCHDOG=1")
	p.Cmd.Process.Signal(syscall.SIGTERM)
	expect(t, p, manager, "STOPPING=1")
	if err := p.Cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Out)
	}
}

// manager is a stand-in for systemd: its socket, and what it would put into the
// environment.
func (c *cage) manager() (socket *net.UnixConn, env []string) {
	c.t.Helper()
	const path = "/run/systemd/notify"
	kit.Must(c.t, os.MkdirAll(filepath.Dir(c.at(path)), 0o755))
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: c.at(path), Net: "unixgram"})
	kit.Must(c.t, err)
	c.t.Cleanup(func() { socket.Close() })
	kit.Must(c.t, os.Chmod(c.at(path), 0o777))
	return socket, []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=200000", "STATE_DIRECTORY=/var/lib/teamdata"}
}

// environmentOf are the lines of an EnvironmentFile.
func environmentOf(t *testing.T, file string) (lines []string) {
	for _, d := range directives(t, file, "=") {
		lines = append(lines, d.name+"="+d.value)
	}
	return lines
}

// expect reads what a program tells its manager, up to a state.
func expect(t *testing.T, p *program.Process, manager *net.UnixConn, state string) {
	t.Helper()
	buf := make([]byte, 1024)
	manager.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		n, err := manager.Read(buf)
		if err != nil {
			t.Fatalf("%s did not come: %v\n%s", state, err, p.Out)
		}
		if string(buf[:n]) == state {
			return
		}
	}
}
