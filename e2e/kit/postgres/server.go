package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
)

const superuser = "postgres"

// Server is a PostgreSQL server in a folder of its own: its data in data, its socket,
// and what it said in log.
type Server struct {
	Port     int // of 127.0.0.1, and part of the socket's name
	folder   string
	data     string
	settings []string
	cmd      *exec.Cmd   // nil while it is stopped
	kept     *connection // to make and drop databases, on a server that no test stops

	filling sync.Mutex
	models  map[string]string // the databases that [Copy] makes others out of, by their names
}

// newServer is one that has no files yet.
func newServer(t testing.TB) *Server {
	t.Helper()
	folder := newFolder(t)
	return &Server{folder: folder, data: filepath.Join(folder, "data"), Port: freePort(t), models: map[string]string{}}
}

// initialize makes the files of a server: out of an archive that an earlier one has left
// behind, since initdb takes ten times as long. An archive is there as a whole or not at
// all, whoever makes it meanwhile or clears the folder for temporary files.
func (s *Server) initialize(t testing.TB) {
	t.Helper()
	args := []string{"-U", superuser, "--no-sync", "--locale=C", "--encoding=UTF8", "--auth-local=trust", "--auth-host=scram-sha-256"}
	archive := archiveOf(t, args)
	if s.unpack(t, archive) {
		return
	}
	s.run(t, "initdb", append(args, "-D", s.data)...)
	command(t, "/bin/sh", "-c", pack, "pack", archive, s.folder).Run() // or the next one needs initdb, too
}

// pack ends an archive with a file that tells a whole one from one that was cut short, by a
// full disk or a power cut.
const pack = `made=$(mktemp "$1.XXXXXX") && touch "$2/whole" && tar -cf "$made" -C "$2" data whole && mv "$made" "$1" || rm -f "$made"`

// unpack takes a server's files out of an archive, if that is there and can be trusted: the
// user of PostgreSQL's processes made it. In a folder for everybody's temporary files
// anybody may have put one of that name.
func (s *Server) unpack(t testing.TB, archive string) bool {
	t.Helper()
	const unpack = `[ -O "$1" ] && [ -f "$1" ] && [ ! -h "$1" ] && tar -xf "$1" -C "$2" && [ -e "$2/whole" ]`
	err := command(t, "/bin/sh", "-c", unpack, "unpack", archive, s.folder).Run()
	if err != nil {
		kit.Must(t, os.RemoveAll(s.data))
	}
	return err == nil
}

// archiveOf is the file for what these PostgreSQL programs make by initdb with arguments.
func archiveOf(t testing.TB, args []string) string {
	t.Helper()
	command(t, "initdb") // or skip
	program, err := os.Stat(filepath.Join(programs(), "postgres"))
	kit.Must(t, err)
	hash := sha256.Sum256(fmt.Append(nil, programs(), program.Size(), program.ModTime().UnixNano(), args))
	return filepath.Join(os.TempDir(), fmt.Sprintf("pgtest-%x.tar", hash[:8]))
}

// base are the settings of every server: as careful as a real one, but small.
var base = []string{
	"listen_addresses=127.0.0.1", "max_connections=200", "shared_buffers=32MB",
	"max_wal_size=128MB", "min_wal_size=32MB", "log_line_prefix=%m [%p] %a ",
	"wal_level=replica", "hot_standby=on",
}

// Start starts a stopped server and waits until it takes connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	args := []string{"-D", s.data, "-k", s.folder, "-p", strconv.Itoa(s.Port)}
	for _, setting := range append(base, s.settings...) {
		args = append(args, "-c", setting)
	}
	s.cmd = command(t, "postgres", args...)
	startLogged(t, s.cmd, filepath.Join(s.folder, "log"))
	await(t, s.URL(superuser, "postgres"), func() string { return s.Log(t) })
	if _, err := os.Stat(s.data + "/standby.signal"); err != nil {
		s.Exec(t, fmt.Sprintf("DO $$ BEGIN CREATE ROLE %[1]s LOGIN PASSWORD '%[2]s'; EXCEPTION WHEN duplicate_object THEN END $$", Owner, Password))
	}
}

// startLogged starts a command that writes to a file what it says.
func startLogged(t testing.TB, cmd *exec.Cmd, file string) {
	t.Helper()
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	kit.Must(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	kit.Must(t, cmd.Start())
}

// await polls until a server takes connections.
func await(t testing.TB, databaseURL string, log func() string) {
	t.Helper()
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var conn *pgconn.PgConn
	var err error
	if !kit.Until(patience, func() bool { conn, err = pgconn.Connect(ctx, databaseURL); return err == nil }) {
		t.Fatalf("it does not start: %v\n%s", err, log())
	}
	conn.Close(ctx)
}

// The ways of [Server.Stop], by the names that pg_ctl gives them.
var modes = map[string]syscall.Signal{
	"smart":     syscall.SIGTERM, // when the last client has left
	"fast":      syscall.SIGINT,  // transactions are rolled back
	"immediate": syscall.SIGQUIT, // like a crash: the next start recovers from the log
}

// Stop stops the server in one of the modes of pg_ctl, and waits for its end.
func (s *Server) Stop(t testing.TB, mode string) {
	t.Helper()
	signal, ok := modes[mode]
	if !ok || s.cmd == nil {
		t.Fatalf("stop %s: no such mode, or the server is not running", mode)
	}
	kit.Must(t, s.cmd.Process.Signal(signal))
	s.cmd.Wait() // with a status that says how it was stopped
	s.cmd = nil
}

// Restart stops the server in one of the modes of pg_ctl, and starts it again on the
// same port.
func (s *Server) Restart(t testing.TB, mode string) {
	t.Helper()
	s.Stop(t, mode)
	s.Start(t)
}

// close ends the server, if it runs, and removes its folder.
func (s *Server) close() {
	if s.cmd != nil {
		s.cmd.Process.Signal(modes["immediate"])
		s.cmd.Wait()
		s.cmd = nil
	}
	os.RemoveAll(s.folder)
}

// Log is what the server has said.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	return kit.ReadText(t, filepath.Join(s.folder, "log"))
}

// run runs one of PostgreSQL's programs to its end.
func (s *Server) run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := command(t, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Shell runs a script with PostgreSQL's programs, which reach the server as its
// superuser, in the server's folder. It returns what the script printed.
func (s *Server) Shell(t testing.TB, script, input string, env ...string) string {
	t.Helper()
	cmd := command(t, "/bin/sh", "-e", "-c", script)
	cmd.Dir, cmd.Stdin = s.folder, strings.NewReader(input)
	cmd.Env = append(cmd.Env, "PGHOST="+s.folder, fmt.Sprintf("PGPORT=%d", s.Port), "PGUSER="+superuser, "PATH="+programs()+":"+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return string(out)
}

// command is one of PostgreSQL's programs, or another one by its path, as the user postgres if this is root, whom
// they refuse to work for. It has no terminal.
func command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	folder := programs()
	if folder == "" {
		kit.MustSkip(t, "there is no PostgreSQL; on Debian: apt-get install postgresql")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(line string) bool { return strings.HasPrefix(line, "PG") }), "LC_ALL=C")
	attributes, why := apart()
	if why != "" {
		kit.MustSkip(t, why)
	}
	cmd.SysProcAttr = attributes
	return cmd
}

// programs is the folder of PostgreSQL's programs: that of the PATH, or else of
// Debian's newest version. It is empty where there is none.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
}

func version(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

func freePort(t testing.TB) int {
	t.Helper()
	_, text, _ := net.SplitHostPort(kit.Reserved(t))
	port, err := strconv.Atoi(text)
	kit.Must(t, err)
	return port
}
