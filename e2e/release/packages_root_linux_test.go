package release

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// distribution is a root with what a package needs of its distribution: a shell and a few
// programs of this machine's, and a systemctl that leaves all to the test.
type distribution struct {
	*cage
	asked    chan string // what systemctl is called with
	answer   *os.File    // the status with which it ends, and words to print
	requests []string    // all that was asked
	nodes    []string    // the units of teamdata@.service that are active

	socket  net.Listener     // of teamdata.socket; nil while that is stopped
	service *program.Process // nil while it is stopped
	news    *net.UnixConn    // what the service tells systemd
	env     []string         // what systemd tells the service
}

const systemctl = `#!/bin/sh
echo "$*" > /run/systemd/asked
read -r status words < /run/systemd/answered
[ -z "$words" ] || printf '%s loaded active running\n' $words
exit "$status"
`

const sudo = `#!/bin/sh
[ "$1" != -u ] || { user=$2; shift 2; set -- setpriv --reuid="$user" --regid="$user" --clear-groups "$@"; }
exec "$@"
`

func newDistribution(t *testing.T) *distribution {
	t.Helper()
	d := &distribution{cage: newCage(t), asked: make(chan string)}
	for _, folder := range []string{"bin", "sbin", "lib", "lib64"} {
		kit.Must(t, os.MkdirAll(d.at("usr/"+folder), 0o755))
		kit.Must(t, os.Symlink("usr/"+folder, d.at(folder)))
	}
	for _, folder := range []string{"etc", "dev", "run/systemd/system", "var/lib/rpm"} {
		kit.Must(t, os.MkdirAll(d.at(folder), 0o755))
	}
	kit.Must(t, os.Mkdir(d.at("tmp"), 0o777|os.ModeSticky))
	for _, program := range []string{"sh", "id", "install", "cut", "useradd", "setpriv"} {
		d.borrow(program)
	}
	for file, text := range map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n", "etc/login.defs": "SYS_UID_MIN 100\n", "dev/null": "",
		"usr/bin/systemctl": systemctl, "usr/bin/sudo": sudo,
		// What is borrowed here is in a package there.
		"var/lib/dpkg/status":       "Package: passwd\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: useradd\n\n",
		"var/lib/dpkg/info/format":  "1\n",
		"var/lib/dpkg/updates/none": "", "var/lib/dpkg/triggers/File": "",
	} {
		kit.Must(t, os.MkdirAll(filepath.Dir(d.at(file)), 0o755))
		kit.WriteFile(t, d.at(file), text)
	}
	kit.Must(t, os.Remove(d.at("var/lib/dpkg/updates/none")))
	for file, mode := range map[string]os.FileMode{"dev/null": 0o666, "etc/passwd": 0o644, "etc/group": 0o644, "usr/bin/systemctl": 0o755, "usr/bin/sudo": 0o755} {
		kit.Must(t, os.Chmod(d.at(file), mode))
	}
	d.listenForSystemctl()
	d.news, d.env = d.manager()
	// As the unit says, and so rarely that what nobody reads does not fill the socket.
	d.env = append(d.env, "WATCHDOG_USEC=30000000")
	return d
}

var libraryPath = regexp.MustCompile(`(?:=> |^\s*)(/\S+) \(`)

// borrow copies a program of this machine's, with the libraries that it needs.
func (d *distribution) borrow(program string) {
	d.t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		kit.MustSkip(d.t, program+" is not installed; on Debian: apt-get install passwd util-linux")
	}
	d.put(path, path)
	libraries, err := exec.Command("ldd", path).Output()
	kit.Must(d.t, err)
	for line := range strings.Lines(string(libraries)) {
		if library := libraryPath.FindStringSubmatch(line); library != nil {
			d.put(library[1], library[1])
		}
	}
}

// listenForSystemctl makes the pipes between the root's systemctl and the test.
func (d *distribution) listenForSystemctl() {
	open := func(name string) *os.File {
		path := d.at("run/systemd/" + name)
		kit.Must(d.t, syscall.Mkfifo(path, 0o600))
		file, err := os.OpenFile(path, os.O_RDWR, 0) // a reader that is a writer too sees no end
		kit.Must(d.t, err)
		d.t.Cleanup(func() { file.Close() })
		return file
	}
	asked := open("asked")
	d.answer = open("answered")
	go func() {
		for lines := bufio.NewScanner(asked); lines.Scan(); {
			select {
			case d.asked <- lines.Text():
			case <-d.t.Context().Done():
				return
			}
		}
	}()
}

// sh runs a command line in the root.
func (d *distribution) sh(line string) string {
	d.t.Helper()
	return d.run(exec.Command("chroot", d.root, "sh", "-c", line))
}

// run runs a program to its end, does meanwhile what is asked of systemd, and returns what
// the program printed.
func (d *distribution) run(cmd *exec.Cmd) string {
	d.t.Helper()
	out, ended := kit.NewOutput(), make(chan error, 1)
	cmd.Stdout, cmd.Stderr = out, out
	kit.Must(d.t, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case line := <-d.asked:
			d.requests = append(d.requests, line)
			words := d.systemd(strings.Fields(line))
			fmt.Fprintln(d.answer, 0, strings.Join(words, " "))
		case err := <-ended:
			if err != nil {
				d.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
			}
			return out.String()
		case <-deadline:
			d.t.Fatalf("%v does not end\n%s", cmd.Args, out)
		}
	}
}

// systemd does what systemctl is called for, and returns the units that it is to print.
func (d *distribution) systemd(call []string) []string {
	d.t.Helper()
	units := slices.DeleteFunc(call[1:], func(word string) bool { return strings.HasPrefix(word, "--") })
	switch call[0] {
	case "list-units":
		return d.nodes
	case "enable", "disable":
		for _, unit := range units {
			d.turn(unit, call[0] == "enable")
		}
	case "try-restart":
		if units[0] == "teamdata.service" && d.service != nil {
			d.turn(units[0], false)
			d.turn(units[0], true)
		}
	case "daemon-reload":
	default:
		d.t.Errorf("systemctl was called with %v", call)
	}
	return nil
}

// turn starts or stops a unit.
func (d *distribution) turn(unit string, on bool) {
	d.t.Helper()
	switch unit {
	case "teamdata.socket":
		if d.socket != nil {
			d.socket.Close()
			d.socket = nil
		}
		if on {
			if port := valueOf(d.t, d.unit(unit), "ListenStream"); port != "8443" {
				d.t.Errorf("teamdata.socket listens on %s", port)
			}
			d.socket = kit.Loopback(d.t) // that port may be taken on this machine
		}
	case "teamdata", "teamdata.service":
		if d.service != nil {
			if err := d.service.Stop(); err != nil {
				d.t.Errorf("the service ended with %v\n%s", err, d.service.Out)
			}
			d.service = nil
		}
		if on {
			d.start()
		}
	}
}

// unit is a unit file of the package's.
func (d *distribution) unit(name string) []directive {
	return directives(d.t, d.at("usr/lib/systemd/system/"+name), "=")
}

// start starts the service by its unit, and waits until it is ready.
func (d *distribution) start() {
	d.t.Helper()
	unit := d.unit("teamdata.service")
	line := append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`}, strings.Fields(valueOf(d.t, unit, "ExecStart"))...)
	cmd := exec.Command("/bin/sh", line...)
	cmd.Dir = valueOf(d.t, unit, "WorkingDirectory")
	cmd.Env = append(slices.Clone(d.env), environmentOf(d.t, d.at(strings.TrimPrefix(valueOf(d.t, unit, "EnvironmentFile"), "-")))...)
	uid, gid := d.userOf(valueOf(d.t, unit, "User"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: d.root, Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	if d.socket != nil {
		file, err := d.socket.(*net.TCPListener).File()
		kit.Must(d.t, err)
		defer file.Close()
		cmd.ExtraFiles, cmd.Env = []*os.File{file}, append(cmd.Env, "LISTEN_FDS=1")
	}
	d.service = program.Begin(d.t, cmd)
	expect(d.t, d.service, d.news, "READY=1")
}

// userOf is a user of the root's, and the user's group.
func (d *distribution) userOf(name string) (uid, gid uint32) {
	d.t.Helper()
	for line := range strings.Lines(kit.ReadText(d.t, d.at("etc/passwd"))) {
		if field := strings.Split(line, ":"); field[0] == name {
			u, err := strconv.ParseUint(field[2], 10, 32)
			kit.Must(d.t, err)
			g, err := strconv.ParseUint(field[3], 10, 32)
			kit.Must(d.t, err)
			return uint32(u), uint32(g)
		}
	}
	d.t.Fatalf("there is no user %s", name)
	return 0, 0
}
