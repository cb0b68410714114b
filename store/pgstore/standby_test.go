package pgstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// keyed sends requests with idempotency keys to a database, each of which adds an entry to
// the audit log of its own org.
type keyed struct {
	testing.TB
	*pgstore.Store
	answers store.Idempotency
}

func (k *keyed) request(key string) (replayed bool, took time.Duration, err error) {
	began, org := time.Now(), "org_"+key
	_, replayed, err = k.answers.Do(bg, k.Store, store.InOrg(org), store.IdempotencyKey{OrgID: org, Key: key}, store.FingerprintOf("POST", key, "", nil), func(tx store.Tx) (store.Answer, error) {
		_, err := tx.AppendAudit(store.AuditEntry{OrgID: org, Action: key})
		return store.Answer{Status: 201, Body: []byte("{}")}, err
	})
	return replayed, time.Since(began), err
}

// refused sends a request that can't be told what became of it, again and again.
func (k *keyed) refused(key string) {
	k.Helper()
	replayed, took, err := k.request(key)
	if k.Logf("%s: replayed %t, %v, after %v", key, replayed, err, took.Round(time.Millisecond)); store.CodeOf(err) != store.CodeUnavailable || took > 16*time.Second {
		k.Errorf("%s, which no standby has, is answered %v, replayed %t, after %v", key, err, replayed, took)
	}
}

// What waits for a standby that is away is answered by nobody as if it were there: neither
// when it is sent again, nor when the database has made it without the standby, as it does
// when the wait is cancelled, or after a restart. A failover may lose it.
func TestCommitWithoutStandby(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, k *keyed, primary, standby *postgres.Server, database string){
		"the standby comes back": func(t *testing.T, k *keyed, primary, standby *postgres.Server, database string) {
			standby.Start(t)
			if replayed, _, err := k.request("away"); err != nil || !replayed {
				t.Errorf("sent again: %v, replayed %t", err, replayed)
			}
			primary.Exec(t, "ALTER SYSTEM RESET synchronous_standby_names") // the database is dropped behind the standby
			primary.Exec(t, "SELECT pg_reload_conf()")
		},
		"the wait is cancelled, and the standby takes over": func(t *testing.T, k *keyed, primary, standby *postgres.Server, database string) {
			primary.Exec(t, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			k.refused("away")
			takeOver(t, primary, standby, database)
		},
		"the primary is killed and comes back, and the standby takes over": func(t *testing.T, k *keyed, primary, standby *postgres.Server, database string) {
			primary.Restart(t, "immediate")
			k.refused("away")
			takeOver(t, primary, standby, database)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			primary := postgres.Start(t)
			database := primary.Database(t)
			standby := primary.Standby(t)
			primary.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
			primary.Exec(t, "SELECT pg_reload_conf()")
			k := &keyed{TB: t, Store: open(t, database, pgstore.Options{})}
			t.Cleanup(func() { k.Close() })
			if _, _, err := k.request("there"); err != nil {
				t.Fatal(err)
			}
			standby.Stop(t, "fast")
			k.refused("away")
			k.refused("away")
			end(t, k, primary, standby, database)
		})
	}
}

// takeOver makes the standby the primary, which has what was answered and nothing else.
func takeOver(t *testing.T, primary, standby *postgres.Server, database string) {
	t.Helper()
	primary.Stop(t, "immediate")
	standby.Start(t)
	standby.Promote(t)
	if got := fmt.Sprint(postgres.Exec(t, standby.URL("postgres", postgres.Name(t, database)), `SELECT split_part(encode(key, 'escape'), '\000', 1) FROM audit_log`)); got != "[[org_there]]" {
		t.Errorf("the standby has %s", got)
	}
}

// The defaults of a role, its database or its server are for others: they refuse nothing
// here.
func TestDefaultsOfRole(t *testing.T) {
	t.Parallel()
	server := postgres.Shared(t)
	for name, reach := range map[string]func(database string) string{
		"directly":        func(database string) string { return database },
		"behind a pooler": func(database string) string { return server.Pooler(t)(database) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			for _, setting := range []string{
				"default_transaction_isolation = 'serializable'", "default_transaction_deferrable = on", "lock_timeout = '10ms'", "statement_timeout = '200ms'",
				"idle_in_transaction_session_timeout = '10ms'",
			} {
				server.Exec(t, fmt.Sprintf("ALTER ROLE %s IN DATABASE %s SET %s", postgres.Owner, postgres.Name(t, database), setting))
			}
			var all sync.WaitGroup
			for range 2 {
				s := open(t, reach(database), pgstore.Options{})
				t.Cleanup(func() { s.Close() })
				limiter := s.Limiter(store.Limit{Name: "key", Max: 1 << 20, Window: time.Minute})
				for caller := range 8 {
					all.Go(func() {
						for i := range 50 {
							if err := s.Update(bg, store.InOrg("org_1"), func(tx store.Tx) error {
								_, err := tx.AppendAudit(store.AuditEntry{OrgID: "org_1", Action: "one"})
								return err
							}); err != nil {
								t.Errorf("an update: %v", err)
							}
							if _, err := limiter.Take(bg, "one", time.Now()); err != nil {
								t.Errorf("a limit: %v", err)
							}
							if _, err := s.UseUp(bg, fmt.Sprint(caller, i), time.Now(), time.Minute); err != nil {
								t.Errorf("what is used up: %v", err)
							}
						}
					})
				}
			}
			all.Wait()
		})
	}
}
