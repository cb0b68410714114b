package admin

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// testEnv is an Admin on a real store, behind a real Unix socket.
type testEnv struct {
	*kit.Env[store.Engine]
	admin    *Admin
	client   *http.Client
	commits  atomic.Int64
	failing  atomic.Pointer[error] // what commits fail with
	delivery string                // one of org_acme, which has failed
}

func newTestEnv(t testing.TB) *testEnv {
	t.Helper()
	env := &testEnv{}
	env.Env = kit.NewEnv(t, engines.Opener(t, boltstore.Options{BeforeCommit: env.beforeCommit}), env.fill)
	c := Config{Version: "1.2.3", Log: zerolog.New(env.LogOutput), Status: env.status, Nodes: env.nodes,
		LinkURL: func(token string) string { return "https://data.example.com/link/" + token }}
	if file, ok := env.Store.(store.FileEngine); ok {
		c.Snapshot = file.Snapshot
	}
	env.admin = New(storetest.Scoped(t, env.Store), c)
	env.client = socketClient(t, env.watched(env.admin.Local()))
	return env
}

func (env *testEnv) beforeCommit() error {
	if err := env.failing.Load(); err != nil {
		return *err
	}
	env.commits.Add(1)
	return nil
}

func (env *testEnv) nodes(context.Context) ([]store.Node, error) {
	return []store.Node{{Name: "node-1", Version: "1.2.3", State: store.NodeRunning, Shards: store.Shards, ClockOffset: -12 * time.Millisecond, StartedAt: kit.Noon, SeenAt: kit.Noon}}, nil
}

func (env *testEnv) status(context.Context) (Status, error) {
	return Status{DataFile: "/srv/teamdata.db", Size: 65536, Schema: 1, Since: kit.Noon, Addresses: []string{"https://127.0.0.1:8443"},
		Certificates: []store.CertificateStatus{{Name: "data.example.com", Authority: "https://acme.test/dir", NotAfter: kit.Noon, LastError: "no answer"}}}, nil
}

// socketClient serves a handler on a socket, and is a client that finds it there.
func socketClient(t testing.TB, h http.Handler) *http.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "admin-") // a socket's path is short
	kit.Must(t, err)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	kit.Must(t, err)
	server := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		<-ended
		os.RemoveAll(dir)
	})
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// do makes a request of a path below the base path; its headers are names and
// values in turn.
func (env *testEnv) do(method, path, body string, header ...string) kit.Answer {
	env.Helper()
	return ask(env, env.client, method, path, body, header...)
}

func ask(t testing.TB, client *http.Client, method, path, body string, header ...string) kit.Answer {
	t.Helper()
	r, err := http.NewRequest(method, "http://teamdata"+basePath+path, strings.NewReader(body))
	kit.Must(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header[header[i]] = append(r.Header[header[i]], header[i+1])
	}
	return kit.Fetch(t, client, r)
}

// wantAnswer complains unless an answer has a status, and a body that a pattern
// matches; see matches.
func (env *testEnv) wantAnswer(got kit.Answer, status int, body string) {
	env.Helper()
	if got.Status != status || !matches(got.Body, body) {
		env.Errorf("got  %d %s\nwant %d %s", got.Status, got.Body, status, body)
	}
}

// wantError complains unless an answer is an error of a code, with a message that
// begins with a text.
func (env *testEnv) wantError(got kit.Answer, code store.Code, message string) {
	env.Helper()
	begin := `{"error":{"code":"` + string(code) + `","message":` + strings.TrimSuffix(string(store.AppendJSONString(nil, message)), `"`)
	if got.Status != code.Status() || !strings.HasPrefix(got.Body, begin) {
		env.Errorf("got  %d %s\nwant %d %s", got.Status, got.Body, code.Status(), begin)
	}
}

func equal[T cmp.Ordered](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
