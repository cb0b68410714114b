package page_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"teamdata/delivery/receiver"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

const (
	storySeed = `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner","name":"Ada Okafor","email":"ada@acme.example"}]}]}`

	storySecret   = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="
	storyPassword = "correct horse battery staple"
)

// storyReceiver is a receiver of the story, behind TLS. It can be told to answer 503, and
// it holds each answer until it may be given.
type storyReceiver struct {
	*httptest.Server
	caFile  string
	failing atomic.Bool
	gate    chan struct{} // closed: nothing is held
}

func newStoryReceiver(t *testing.T) *storyReceiver {
	secrets, err := receiver.ParseSecrets(storySecret)
	kit.Must(t, err)
	h := &storyReceiver{gate: make(chan struct{})}
	well := receiver.New(receiver.Config{Secrets: secrets})
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		<-h.gate
		if h.failing.Load() {
			http.Error(w, "no such table: <events>", http.StatusServiceUnavailable)
			return
		}
		well.ServeHTTP(w, q)
	}))
	_, h.caFile = program.StartTLS(t, h.Server)
	return h
}

// openStory opens a browser at a server with a new data file.
func openStory(t *testing.T, flags ...string) *tab {
	t.Helper()
	return openStoryOn(t, filepath.Join(t.TempDir(), "teamdata.db"), nil, flags)
}

// openStoryOnDatabase does the same with a database in place of the file.
func openStoryOnDatabase(t *testing.T, flags ...string) *tab {
	t.Helper()
	return openStoryOn(t, postgres.New(t), []string{"--state-dir", t.TempDir()}, flags)
}

func openStoryOn(t *testing.T, data string, state, flags []string) *tab {
	t.Helper()
	p, base := serveSettings(t, data, slices.Concat(flags, state, []string{"--seed", kit.NewFile(t, "seed.json", storySeed)})...)
	return openTab(t, p, base, append(state, "--data", data)...)
}
