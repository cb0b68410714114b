package server

import (
	"fmt"
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

// A request that waits on one node is woken by a commit, and by the end of a lease, on
// another: by a hint, and without hints by the poll. One whose key is revoked there ends.
func TestWaitOnAnotherNode(t *testing.T) {
	for _, noHints := range []bool{false, true} {
		t.Run(fmt.Sprintf("noHints=%v", noHints), func(t *testing.T) {
			t.Parallel()
			target, err := pgstore.ParseTarget(postgres.New(t))
			kit.Must(t, err)
			var nodes [2]*testEnv
			open := func(_ string, now func() time.Time) (store.Engine, error) {
				return pgstore.Open(t.Context(), target, pgstore.Options{Node: pgstore.RandomName(), NoHints: noHints})
			}
			for i := range nodes {
				seed := orgs.Fill
				if i > 0 {
					seed = func(store.Tx) error { return nil }
				}
				env := &testEnv{storeEnv: kit.NewEnv(t, open, seed), added: map[string]bool{}}
				env.server = New(storetest.Scoped(t, env.Store), Config{Now: env.Store.Now, Log: zerolog.Nop()})
				env.Store.OnDue(env.server.Due)
				nodes[i] = env
			}
			nodes[0].addPull()
			here, there := nodes[0], nodes[1].newConsumer(false)
			answer := there.pulling(t.Context(), "whe_pull", "key_pull", waiting)
			there.waitForWaiting(1)
			ids := here.send("whe_pull", 1)
			committed := time.Now()
			there.wantPulled(there.answered(answer), ids...)
			t.Logf("answered %v after the commit", time.Since(committed))
			answer = there.pulling(t.Context(), "whe_second", "key_pull", waiting)
			there.waitForWaiting(1)
			here.Update(func(tx store.Tx) error { // sent, and leased by somebody else at once
				d, err := store.SendTest(tx, "org_acme", "whe_second")
				if err != nil {
					return err
				}
				ids = []string{d.ID}
				_, err = store.Pull(tx, "whe_second", store.PullRequest{Key: &store.APIKey{ID: "key_second", OrgID: "org_acme"}, Limit: 1, Lease: store.MinLease})
				return err
			})
			there.wantPulled(there.answered(answer), ids...)
			answer = there.pulling(t.Context(), "whe_second", "key_second", waiting)
			there.waitForWaiting(1)
			here.Update(func(tx store.Tx) error { return store.RevokeKey(tx, "usr_ada", "org_acme", "key_second") })
			if a := there.answered(answer); a.Error.Code != string(store.CodeUnauthorized) {
				t.Errorf("the key was revoked on the other node, and it gets %+v", a)
			}
		})
	}
}
