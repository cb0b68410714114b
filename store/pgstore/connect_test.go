package pgstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

const secret = "s3cret-p4ssword" // which no text may show

func TestMain(m *testing.M) {
	for _, line := range os.Environ() { // of the person who runs the tests
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "PG") {
			os.Unsetenv(name)
		}
	}
	kit.MostlyWait()
	os.Exit(m.Run())
}

// dialed connects to a URL, and fails the test if it can't.
func dialed(t testing.TB, databaseURL string) *conn {
	t.Helper()
	c, err := tryDial(t, databaseURL)
	kit.Must(t, err)
	return c
}

func tryDial(t testing.TB, databaseURL string) (*conn, error) {
	t.Helper()
	target, err := ParseTarget(databaseURL)
	if err != nil {
		return nil, err
	}
	c, err := target.connect(t.Context(), nil)
	if err == nil {
		t.Cleanup(func() { c.Close(context.Background()) })
	}
	return c, err
}

// refused checks that a URL is refused with some words, with a hint, and without its
// password.
func refused(t testing.TB, databaseURL string, wants ...string) {
	t.Helper()
	_, err := tryDial(t, databaseURL)
	checkRefusal(t, err, wants...)
}

func checkRefusal(t testing.TB, err error, wants ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") || e.Hint() == "" || e.Place == "" {
		t.Fatalf("it is not refused with a place and a hint: %v", err)
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal lacks %q: %v", want, err)
		}
	}
	for cause := error(e); cause != nil; cause = errors.Unwrap(cause) {
		if text := fmt.Sprintf("%v %+v", cause, cause); strings.Contains(text, secret) || strings.Contains(text, postgres.Password) {
			t.Errorf("the refusal shows too much: %s", text)
		}
	}
}

func TestRefusals(t *testing.T) {
	server := postgres.Shared(t)
	name := postgres.Name(t, postgres.New(t))
	good := server.TCP(name)
	server.Exec(t, "CREATE ROLE nobody NOLOGIN")
	server.Exec(t, "CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0 OWNER "+postgres.Owner)
	t.Cleanup(func() {
		server.Exec(t, "DROP DATABASE latin WITH (FORCE)")
		server.Exec(t, "DROP ROLE nobody")
	})
	closed := kit.Loopback(t)
	closed.Close()
	for what, c := range map[string]struct {
		url   string
		wants []string
	}{
		"password wrong":    {strings.Replace(good, postgres.Password, secret, 1), []string{"refuses the password", "PGPASSFILE"}},
		"password missing":  {strings.Replace(good, ":"+postgres.Password, "", 1), []string{"refuses the password, or there is none", "PGPASSFILE"}},
		"role unknown":      {strings.Replace(server.URL("unknown", name), "@", ":"+secret+"@", 1), []string{"does not let the role in", "unknown"}},
		"role may not":      {server.URL("nobody", name), []string{"does not let the role in", "not permitted to log in"}},
		"no such database":  {server.TCP("nowhere"), []string{"does not exist", "createdb"}},
		"nothing listens":   {"postgres://td:" + secret + "@" + closed.Addr().String() + "/data", []string{"is down", "start PostgreSQL"}},
		"no socket":         {"postgres://td@/data?host=" + t.TempDir(), []string{"is down"}},
		"no such host":      {"postgres://td:" + secret + "@db.invalid/data", []string{"there is no host db.invalid"}},
		"no TLS":            {good + "?sslmode=require", []string{"does not support TLS", "sslmode=disable"}},
		"wrong encoding":    {server.TCP("latin"), []string{"LATIN1", "--encoding=UTF8"}},
		"unknown option":    {good + "?pool_max_conns=7", []string{"refuses a setting", "pool_max_conns"}},
		"role only reads":   {good + "?default_transaction_read_only=on", []string{"only read"}},
		"all of the hosts":  {strings.Replace(good, "127.0.0.1", "127.0.0.1:1,127.0.0.1", 1), nil},
		"several, one good": {strings.Replace(good, "@127.0.0.1", "@127.0.0.1:1,127.0.0.1", 1), nil},
	} {
		t.Run(what, func(t *testing.T) {
			if c.wants == nil {
				dialed(t, c.url)
				return
			}
			refused(t, c.url, c.wants...)
		})
	}
}

func TestNoConnectionLeft(t *testing.T) {
	server := postgres.Start(t, "max_connections=10")
	database := server.Database(t)
	for range 20 {
		if _, err := tryDial(t, database); err != nil {
			checkRefusal(t, err, "has no connection left", "max_connections")
			return
		}
	}
	t.Error("there is no end of connections")
}

// A server that takes the connection and says nothing.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	silent := kit.Loopback(t)
	start := time.Now()
	refused(t, "postgres://td:"+secret+"@"+silent.Addr().String()+"/data?connect_timeout=1", "does not answer in time")
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestTooOld(t *testing.T) {
	if err := (serverState{version: 130012, encoding: "UTF8"}).refusal(); err == nil || !strings.Contains(err.Error(), "PostgreSQL 13") {
		t.Error(err)
	}
	if err := (serverState{version: 140000, encoding: "UTF8"}).refusal(); err != nil {
		t.Error(err)
	}
}

func TestStandby(t *testing.T) {
	primary := postgres.Start(t)
	name := postgres.Name(t, primary.Database(t))
	standby := primary.Standby(t)
	refused(t, standby.TCP(name), "is a standby", "primary")
	both := strings.Replace(primary.TCP(name), "@127.0.0.1:", fmt.Sprintf("@127.0.0.1:%d,127.0.0.1:", standby.Port), 1)
	if c := dialed(t, both); c.server.standby {
		t.Error("of two it takes the standby")
	}
}

func TestTLS(t *testing.T) {
	server, caFile := postgres.StartTLS(t, "localhost")
	name := postgres.Name(t, server.Database(t))
	numbers := server.TCP(name) // 127.0.0.1, which the certificate does not name
	names := strings.Replace(numbers, "127.0.0.1", "localhost", 1)
	trusted := "?sslmode=verify-full&sslrootcert=" + caFile
	dialed(t, names+trusted)
	if got := dialed(t, names).Conn(); fmt.Sprintf("%T", got) != "*tls.Conn" {
		t.Errorf("on this machine it takes a %T where TLS is to be had", got)
	}
	refused(t, numbers+trusted, "certificate for another name than 127.0.0.1")
	refused(t, names+"?sslmode=verify-full", "CA that is not trusted", "sslrootcert")
	dialed(t, numbers+"?sslmode=verify-ca&sslrootcert="+caFile)
	t.Setenv("PGSSLROOTCERT", caFile)
	t.Setenv("PGSSLMODE", "verify-full")
	dialed(t, names)
}

func TestPasswordFile(t *testing.T) {
	server := postgres.Shared(t)
	name := postgres.Name(t, postgres.New(t))
	file := filepath.Join(t.TempDir(), "pgpass")
	t.Setenv("PGPASSFILE", file)
	bare := strings.Replace(server.TCP(name), ":"+postgres.Password, "", 1)
	target, err := ParseTarget(bare)
	kit.Must(t, err)
	if target.HasPassword() {
		t.Error("a password of a file counts as one of the URL")
	}
	for password, works := range map[string]bool{secret: false, postgres.Password: true} { // one after the other, for one Target
		kit.WriteFile(t, file, fmt.Sprintf("127.0.0.1:%d:*:%s:%s\n", server.Port, postgres.Owner, password))
		c, err := target.connect(t.Context(), nil)
		if (err == nil) != works {
			t.Errorf("with the password %s: %v", password, err)
		}
		if c != nil {
			c.Close(t.Context())
		}
	}
}

func TestServiceFile(t *testing.T) {
	server := postgres.Shared(t)
	name := postgres.Name(t, postgres.New(t))
	file := filepath.Join(t.TempDir(), "services")
	kit.WriteFile(t, file, fmt.Sprintf("[ours]\nhost=127.0.0.1\nport=%d\nuser=%s\npassword=%s\ndbname=%s\n\n[far]\nhost=db.example.com\nuser=td\n\n[weak]\nhost=db.example.com\nuser=td\nsslmode=require\n",
		server.Port, postgres.Owner, postgres.Password, name))
	t.Setenv("PGSERVICEFILE", file)
	dialed(t, "postgres://?service=ours")
	for service, warns := range map[string]bool{"far": false, "weak": true} {
		target, err := ParseTarget("postgres://?service=" + service)
		kit.Must(t, err)
		if got := target.Warning() != ""; got != warns {
			t.Errorf("%s: %q", service, target.Warning())
		}
	}
}

func TestPooledIsNoticed(t *testing.T) {
	direct := postgres.New(t)
	if c := dialed(t, direct); c.server.pooled {
		t.Error("a direct connection is taken for one of a pooler")
	}
	pooler := postgres.Shared(t).Pooler(t)(direct)
	if c := dialed(t, pooler); !c.server.pooled {
		t.Error("the pooler is not noticed")
	}
	refused(t, pooler+"&options=-cstatement_timeout%3D1", "refuses a setting", "options")
}
