package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// What is sent opens, and holds what the store held.
func TestBackup(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t)
	got := env.do("GET", "/backup", "")
	equal(t, "status", got.Status, 200)
	equal(t, "Teamdata-Backup-Size", got.Header.Get("Teamdata-Backup-Size"), strconv.Itoa(len(got.Body)))
	equal(t, "Content-Type", got.Header.Get("Content-Type"), "application/octet-stream")
	path := filepath.Join(t.TempDir(), "copy.db")
	kit.WriteFile(t, path, got.Body)
	s, err := boltstore.Open(path, boltstore.Options{Now: env.Now})
	kit.Must(t, err)
	defer s.Close()
	copied := New(s, Config{})
	equal(t, "the copy", ask(t, socketClient(t, copied.Local()), "GET", "/orgs", "").Body, env.do("GET", "/orgs", "").Body)
	env.wantNoFiles()
}

func (env *testEnv) wantNoFiles() {
	env.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(env.Store.(store.FileEngine).Path()), ".*"))
	if err != nil || len(left) > 0 {
		env.Errorf("left behind: %v %v", left, err)
	}
}

// large makes the data file larger than what buffers hold between a server and a
// client.
func (env *testEnv) large() {
	env.Update(func(tx store.Tx) error { return tx.PutCertificate("large", make([]byte, 8<<20)) })
}

// begin asks for a backup and reads its first byte.
func (env *testEnv) begin(ctx context.Context) io.ReadCloser {
	env.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://teamdata"+basePath+"/backup", nil)
	kit.Must(env, err)
	answer, err := env.client.Do(r)
	kit.Must(env, err)
	if _, err := io.ReadFull(answer.Body, make([]byte, 1)); err != nil {
		env.Fatal(err)
	}
	return answer.Body
}

// A client that stalls holds neither a transaction nor a file: the store, which
// waits for transactions, can be closed, and then the rest is read.
func TestStalledBackup(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t)
	env.large()
	body := env.begin(t.Context())
	defer body.Close()
	env.wantNoFiles()
	kit.Must(t, env.Store.Close())
	if n, err := io.Copy(io.Discard, body); n < 8<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A client that goes away while the copy is made ends it, and leaves nothing.
func TestAbandonedBackup(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t)
	copying, ended := make(chan struct{}), make(chan error, 1)
	env.admin.config.Snapshot = func(ctx context.Context) (*os.File, error) {
		close(copying)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://teamdata"+basePath+"/backup", nil)
		if answer, err := env.client.Do(r); err == nil {
			answer.Body.Close()
			t.Error("it was answered")
		}
	}()
	<-copying
	env.wantError(env.do("GET", "/backup", ""), store.CodeConflict, "Another backup is being made.")
	leave()
	<-gone
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	env.admin.copying <- struct{}{} // once it is given back, the handler has cleaned up
	env.wantNoFiles()
	equal(t, "log", env.LogOutput.String(), "")
}

// Of data that is in a database there is no copy.
func TestBackupOfADatabase(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t)
	env.admin.config.Snapshot = nil
	env.wantError(env.do("GET", "/backup", ""), store.CodeConflict, "The data is in a database")
}

// A copy that fails is the server's fault, and leaves nothing.
func TestFailedBackup(t *testing.T) {
	engines.NeedsFile(t)
	env := newTestEnv(t)
	env.admin.config.Snapshot = func(context.Context) (*os.File, error) { return nil, errors.New("the disk is full") }
	env.wantError(env.do("GET", "/backup", ""), store.CodeInternal, "Something went wrong")
	env.wantNoFiles()
}
