package app_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"teamdata/delivery/receiver"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

const (
	storySeed = `{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner","name":"Ada Okafor","email":"ada@acme.example"}]}]}`

	storySecret   = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="
	storyPassword = "correct horse battery staple"
)

// hook is a receiver of the story, behind TLS. It can be told to answer 503, and
// it holds each answer until it may be given.
type storyReceiver struct {
	*httptest.Server
	failing atomic.Bool
	gate    chan struct{} // closed: nothing is held
}

func newStoryReceiver(t *testing.T) *storyReceiver {
	secrets, err := receiver.ParseSecrets(storySecret)
	if err != nil {
		t.Fatal(err)
	}
	h := &storyReceiver{gate: make(chan struct{})}
	well := receiver.New(receiver.Config{Secrets: secrets})
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		<-h.gate
		if h.failing.Load() {
			http.Error(w, "no such table: <events>", http.StatusServiceUnavailable)
			return
		}
		well.ServeHTTP(w, q)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *storyReceiver) caFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "ca.pem")
	kit.WriteFile(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})))
	return file
}

// openStory opens a browser at a server with a new data file.
func openStory(t *testing.T, flags ...string) *tab {
	t.Helper()
	seed := filepath.Join(t.TempDir(), "seed.json")
	kit.WriteFile(t, seed, storySeed)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p, base := serveSettings(t, data, append(flags, "--seed", seed)...)
	return openTab(t, p, base, "--data", data)
}

// openStoryOnDatabase does the same with a database in place of the file.
func openStoryOnDatabase(t *testing.T, flags ...string) *tab {
	t.Helper()
	seed := filepath.Join(t.TempDir(), "seed.json")
	kit.WriteFile(t, seed, storySeed)
	data, state := postgres.New(t), []string{"--state-dir", t.TempDir()}
	p, base := serveSettings(t, data, slices.Concat(flags, state, []string{"--seed", seed})...)
	return openTab(t, p, base, append(state, "--data", data)...)
}
