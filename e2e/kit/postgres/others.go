package postgres

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/localca"
)

// StartTLS starts a server of the test's own that speaks TLS, with a certificate for
// some names or addresses, and returns the file of the CA that issued it.
func StartTLS(t testing.TB, names ...string) (s *Server, caFile string) {
	t.Helper()
	ca, err := localca.NewCA(time.Now(), "pgtest")
	kit.Must(t, err)
	leaf, err := ca.Issue(time.Now(), names)
	kit.Must(t, err)
	s = newServer(t)
	t.Cleanup(s.close)
	caFile, leafFile := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(s.folder, "server.pem")
	kit.WriteFile(t, caFile, string(ca.CertificatePEM()))
	kit.WriteFile(t, leafFile, string(leaf))
	own(t, leafFile)
	s.settings = []string{"ssl=on", "ssl_cert_file=" + leafFile, "ssl_key_file=" + leafFile}
	s.initialize(t)
	s.Start(t)
	return s, caFile
}

// Standby starts a standby of the server, which ends with the test. It only reads.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	standby := newServer(t)
	t.Cleanup(standby.close)
	standby.run(t, "pg_basebackup", "-h", s.folder, "-p", fmt.Sprint(s.Port), "-U", superuser, "-D", standby.data,
		"--checkpoint=fast", "--no-sync", "--write-recovery-conf")
	standby.Start(t)
	return standby
}

// Promote makes a standby the primary, and waits until it takes writes.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "promote", "-D", s.data, "--wait")
}

// Pooler starts PgBouncer in transaction mode in front of the server, with two
// connections for a database, and returns what makes the URL of a database one of the
// pooler.
func (s *Server) Pooler(t testing.TB) func(databaseURL string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		kit.MustSkip(t, "there is no PgBouncer; on Debian: apt-get install pgbouncer")
	}
	port := freePort(t)
	file := func(ending string) string { return filepath.Join(s.folder, fmt.Sprintf("pooler-%d.%s", port, ending)) }
	kit.WriteFile(t, file("users"), fmt.Sprintf("%q %q\n", Owner, Password))
	kit.WriteFile(t, file("ini"), fmt.Sprintf(`[databases]
* = host=%[1]s port=%[2]d
[pgbouncer]
unix_socket_dir = %[1]s
listen_port = %[3]d
pidfile = %[4]s
auth_type = trust
auth_file = %[5]s
pool_mode = transaction
default_pool_size = 2
`, s.folder, s.Port, port, file("pid"), file("users")))
	own(t, file("users"))
	own(t, file("ini"))
	cmd := command(t, program, file("ini"))
	startLogged(t, cmd, file("log"))
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.Remove(file("pid"))
	})
	pooled := &Server{folder: s.folder, Port: port}
	await(t, pooled.URL(Owner, "postgres"), func() string { return kit.ReadText(t, file("log")) })
	return func(databaseURL string) string { return pooled.URL(Owner, Name(t, databaseURL)) }
}

// PasswordApart moves the password of a URL to a file, as an argument has to be.
func PasswordApart(t testing.TB, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	kit.Must(t, err)
	u.User = url.User(u.User.Username())
	q := u.Query()
	q.Set("passfile", kit.NewFile(t, "pgpass", "*:*:*:*:"+Password+"\n"))
	u.RawQuery = q.Encode()
	return u.String()
}
