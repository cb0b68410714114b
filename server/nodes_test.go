package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/orgs"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// Requests with one Idempotency-Key on two nodes at once are executed once: the other
// gets the same answer as a replay. A different request is refused by both.
func TestOneIdempotencyKeyOnTwoNodes(t *testing.T) {
	database := postgres.New(t)
	target, err := pgstore.ParseTarget(database)
	kit.Must(t, err)
	var nodes [2]*Server
	open := func(_ string, now func() time.Time) (store.Engine, error) {
		return pgstore.Open(t.Context(), target, pgstore.Options{Now: now, Node: pgstore.RandomName()})
	}
	env := kit.NewEnv(t, open, orgs.Fill)
	for i, s := 0, env.Store; i < len(nodes); i++ {
		if i > 0 {
			if s, err = open("", env.Now); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
		}
		nodes[i] = New(storetest.Scoped(t, s), Config{Now: env.Now, Log: zerolog.Nop()})
	}
	for round := range 20 {
		key := fmt.Sprint("key ", round)
		post := func(s *Server, endpoint string) *httptest.ResponseRecorder {
			return recorded(s.http.Handler, newRequest("POST", "/api/v1/webhooks/"+endpoint+"/test", "key_write", "Idempotency-Key", key))
		}
		answers := make(chan *httptest.ResponseRecorder)
		for _, s := range nodes {
			go func() { answers <- post(s, "whe_open") }()
		}
		one, other := <-answers, <-answers
		replays := len(header(one, "Idempotent-Replayed")) + len(header(other, "Idempotent-Replayed"))
		if one.Code != http.StatusOK || other.Code != http.StatusOK || one.Body.String() != other.Body.String() || replays != 1 {
			t.Errorf("round %d: %d %s and %d %s, %d of them replays", round, one.Code, one.Body, other.Code, other.Body, replays)
		}
		for _, s := range nodes {
			if got := post(s, "whe_closed"); got.Code != http.StatusUnprocessableEntity {
				t.Errorf("round %d: a different request was answered %d", round, got.Code)
			}
		}
	}
	if n := postgres.Exec(t, database, "SELECT count(*) FROM deliveries")[0][0]; n != "20" {
		t.Errorf("%s deliveries were made", n)
	}
}
