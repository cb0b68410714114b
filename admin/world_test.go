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

// noon is when the clock of a world starts.
var noon = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

// world is an Admin on a real store, behind a real Unix socket.
type world struct {
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

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, log: &lockedBuffer{}}
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true, Now: w.now, BeforeCommit: w.beforeCommit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w.store = s
	w.update(w.fill)
	w.admin = New(s, Config{Version: "1.2.3", Log: zerolog.New(w.log), Snapshot: s.Snapshot, Status: w.status,
		LinkURL: func(token string) string { return "https://data.example.com/link/" + token }})
	w.client = dialer(t, w.watched(w.admin.Local()))
	return w
}

func (w *world) now() time.Time { return noon.Add(time.Duration(w.passed.Load())) }

func (w *world) pass(d time.Duration) { w.passed.Add(int64(d)) }

func (w *world) beforeCommit() error {
	if err := w.failing.Load(); err != nil {
		return *err
	}
	w.commits.Add(1)
	return nil
}

func (w *world) status(context.Context) (Status, error) {
	return Status{DataFile: "/srv/teamdata.db", Size: 65536, Schema: 1, Since: noon, Addresses: []string{"https://127.0.0.1:8443"},
		Certificates: []Certificate{{Name: "data.example.com", NotAfter: noon, LastError: "no answer"}}}, nil
}

func (w *world) update(fn func(store.Tx) error) {
	w.Helper()
	if err := w.store.Update(context.Background(), fn); err != nil {
		w.Fatal(err)
	}
}

func (w *world) view(fn func(store.Tx) error) {
	w.Helper()
	if err := w.store.View(context.Background(), fn); err != nil {
		w.Fatal(err)
	}
}

// dialer serves a handler on a socket, and is a client that finds it there.
func dialer(t testing.TB, h http.Handler) *http.Client {
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
func (w *world) do(method, path, body string, header ...string) reply {
	w.Helper()
	return ask(w, w.client, method, path, body, header...)
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

// holds complains unless an answer has a status, and a body that a pattern
// matches; see matches.
func (w *world) holds(got reply, status int, body string) {
	w.Helper()
	if got.status != status || !matches(got.body, body) {
		w.Errorf("got  %d %s\nwant %d %s", got.status, got.body, status, body)
	}
}

// refuses complains unless an answer is an error of a code, with a message that
// begins with a text.
func (w *world) refuses(got reply, code store.Code, message string) {
	w.Helper()
	begin := `{"error":{"code":"` + string(code) + `","message":` + strings.TrimSuffix(string(store.AppendJSONString(nil, message)), `"`)
	if got.status != code.Status() || !strings.HasPrefix(got.body, begin) {
		w.Errorf("got  %d %s\nwant %d %s", got.status, got.body, code.Status(), begin)
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
