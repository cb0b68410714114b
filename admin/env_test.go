package admin

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
	"teamdata/store/boltstore"
)

// noon is when the clock of an environment starts.
var noon = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

// testEnv is an Admin on a real store, behind a real Unix socket.
type testEnv struct {
	testing.TB
	store    *boltstore.Store
	admin    *Admin
	client   *http.Client
	log      *lockedBuffer
	passed   atomic.Int64 // time since noon
	commits  atomic.Int64
	failing  atomic.Pointer[error] // what commits fail with
	delivery string                // one of org_acme, which has failed
}

func newTestEnv(t testing.TB) *testEnv {
	t.Helper()
	env := &testEnv{TB: t, log: &lockedBuffer{}}
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true, Now: env.now, BeforeCommit: env.beforeCommit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	env.store = s
	env.update(env.fill)
	env.admin = New(s, Config{Version: "1.2.3", Log: zerolog.New(env.log), Snapshot: s.Snapshot, Status: env.status,
		LinkURL: func(token string) string { return "https://data.example.com/link/" + token }})
	env.client = socketClient(t, env.watched(env.admin.Local()))
	return env
}

func (env *testEnv) now() time.Time { return noon.Add(time.Duration(env.passed.Load())) }

func (env *testEnv) advance(d time.Duration) { env.passed.Add(int64(d)) }

func (env *testEnv) beforeCommit() error {
	if err := env.failing.Load(); err != nil {
		return *err
	}
	env.commits.Add(1)
	return nil
}

func (env *testEnv) status(context.Context) (Status, error) {
	return Status{DataFile: "/srv/teamdata.db", Size: 65536, Schema: 1, Since: noon, Addresses: []string{"https://127.0.0.1:8443"},
		Certificates: []Certificate{{Name: "data.example.com", NotAfter: noon, LastError: "no answer"}}}, nil
}

func (env *testEnv) update(fn func(store.Tx) error) {
	env.Helper()
	if err := env.store.Update(context.Background(), fn); err != nil {
		env.Fatal(err)
	}
}

func (env *testEnv) view(fn func(store.Tx) error) {
	env.Helper()
	if err := env.store.View(context.Background(), fn); err != nil {
		env.Fatal(err)
	}
}

// socketClient serves a handler on a socket, and is a client that finds it there.
func socketClient(t testing.TB, h http.Handler) *http.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "admin-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
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

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   string
}

// do makes a request of a path below the base path; its headers are names and
// values in turn.
func (env *testEnv) do(method, path, body string, header ...string) reply {
	env.Helper()
	return ask(env, env.client, method, path, body, header...)
}

func ask(t testing.TB, client *http.Client, method, path, body string, header ...string) reply {
	t.Helper()
	r, err := http.NewRequest(method, "http://teamdata"+basePath+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header[header[i]] = append(r.Header[header[i]], header[i+1])
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(text)}
}

// wantAnswer complains unless an answer has a status, and a body that a pattern
// matches; see matches.
func (env *testEnv) wantAnswer(got reply, status int, body string) {
	env.Helper()
	if got.status != status || !matches(got.body, body) {
		env.Errorf("got  %d %s\nwant %d %s", got.status, got.body, status, body)
	}
}

// wantError complains unless an answer is an error of a code, with a message that
// begins with a text.
func (env *testEnv) wantError(got reply, code store.Code, message string) {
	env.Helper()
	begin := `{"error":{"code":"` + string(code) + `","message":` + strings.TrimSuffix(string(store.AppendJSONString(nil, message)), `"`)
	if got.status != code.Status() || !strings.HasPrefix(got.body, begin) {
		env.Errorf("got  %d %s\nwant %d %s", got.status, got.body, code.Status(), begin)
	}
}

// lockedBuffer is a log that a test can read while the server writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func equal[T cmp.Ordered](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
