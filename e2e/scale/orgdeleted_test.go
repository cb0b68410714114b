package scale_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// An org with 100,000 members and 1,000,000 entries, at full size, is deleted beside
// one that is busy, and the server is killed three times meanwhile. The org is not
// found from the first moment on; the other one goes on; in the end nothing in the
// file is of the org.
func TestOrgDeletedBesideABusyOne(t *testing.T) {
	members, entries := kit.Size(2000, 100_000), kit.Size(10_000, 1_000_000)
	measured := time.Duration(kit.Size(1, 10)) * time.Second
	random := kit.Random(t)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	program.MustRun(t, "import", "--data", data, program.Example)
	fillBigOrg(t, data, members, entries)
	flags := []string{"--key-rate", "0", "--client-rate", "0"}
	p := program.Serve(t, data, flags...)
	o := program.NewOperator(t, data)
	const key = "key_big.big-secret"
	if a := p.Must("GET", "/members?limit=1", key); a.Status != http.StatusOK {
		t.Fatalf("before: %d %s", a.Status, a.Body)
	}

	if status, answer, err := o.Do("POST", "/orgs/org_big/audit-log", `{"action":"door.opened"}`, "Idempotency-Key", "once"); err != nil || status != http.StatusCreated {
		t.Fatalf("answered %d %s (%v)", status, answer, err)
	}

	before := beside(t, p, o, measured)
	began := time.Now()
	if status, answer, err := o.Do("DELETE", "/orgs/org_big", ""); err != nil || status != http.StatusNoContent {
		t.Fatalf("answered %d %s (%v)", status, answer, err)
	}
	isGone(t, p, o, key)
	during := beside(t, p, o, measured)
	t.Logf("p99 of reads %v before, %v while the org is dropped; of writes %v and %v", before.reads, during.reads, before.writes, during.writes)

	gone, kills := created(t, o), 0
	for ; kills < 3 && !gone; kills++ {
		<-time.After(time.Duration(random.IntN(100)) * time.Millisecond)
		p.Kill()
		program.MustRun(t, "check", "--data", data)
		p = program.Serve(t, data, flags...)
		o = program.NewOperator(t, data)
		isGone(t, p, o, key)
		gone = created(t, o)
	}
	for deadline := time.Now().Add(10 * time.Minute); !gone; gone = created(t, o) {
		if time.Now().After(deadline) {
			t.Fatal("the org is still being dropped")
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Logf("%d members and %d entries were dropped in %.1f s, with %d kills", members, entries, time.Since(began).Seconds(), kills)
	if a := p.Must("GET", "/members?limit=1", program.ReadKey); a.Status != http.StatusOK {
		t.Errorf("the other org: %d %s", a.Status, a.Body)
	}
	p.StopWell()
	program.MustRun(t, "check", "--data", data)
	for _, of := range []string{"usr_big", "key_big", "whe_big", "door_7", "Big"} {
		for _, at := range findInFile(t, data, of) {
			t.Errorf("%s is still in %s", of, at)
		}
	}
	if places := findInFile(t, data, "org_big"); len(places) != 2 {
		t.Errorf("besides the record of the new org and its first entry there is more: %q", places)
	}
}

// isGone checks that a deleted org is unknown everywhere.
func isGone(t *testing.T, p *program.Process, o program.Operator, key string) {
	t.Helper()
	unknown, deleted := p.Must("GET", "/members", "key_none.big-secret"), p.Must("GET", "/members", key)
	if deleted.Status != http.StatusUnauthorized || withoutID(deleted.Body) != withoutID(unknown.Body) {
		t.Errorf("its key is answered %d %s, and an unknown one %d %s", deleted.Status, deleted.Body, unknown.Status, unknown.Body)
	}
	for _, path := range []string{"/orgs/org_big", "/orgs/org_big/members", "/orgs/org_big/keys/key_big"} {
		if status, answer, err := o.Do("GET", path, ""); err != nil || status != http.StatusNotFound {
			t.Errorf("GET %s is answered %d %s (%v)", path, status, answer, err)
		}
	}
}

var requestID = regexp.MustCompile(`"requestId":"\w+"`)

// withoutID is an error without its request id.
func withoutID(body string) string { return requestID.ReplaceAllString(body, "") }

// created tries to create an org with the deleted one's id, which is refused while that
// is being dropped.
func created(t *testing.T, o program.Operator) bool {
	t.Helper()
	status, answer, err := o.Do("POST", "/orgs", `{"id":"org_big","name":"Another"}`)
	if err != nil || status != http.StatusCreated && (status != http.StatusConflict || !strings.Contains(answer, "still being dropped")) {
		t.Fatalf("answered %d %s (%v)", status, answer, err)
	}
	return status == http.StatusCreated
}

// fillBigOrg fills a file with an org, as pushes would: members, entries, a key, an
// endpoint and deliveries.
func fillBigOrg(t *testing.T, data string, members, entries int) {
	t.Helper()
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	kit.Must(t, err)
	each := func(n int, fn func(tx store.Tx, i int) error) {
		const some = 10_000
		for from := 0; from < n && err == nil; from += some {
			err = s.Update(context.Background(), store.All, func(tx store.Tx) error {
				for i := from; i < min(from+some, n); i++ {
					if err := fn(tx, i); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	each(1, func(tx store.Tx, _ int) error {
		_, errOrg := store.ImportOrg(tx, store.Org{ID: "org_big", Name: "Big"})
		_, errOwner := store.ImportMember(tx, store.Member{OrgID: "org_big", UserID: "usr_big", Role: store.RoleOwner})
		_, errKey := store.ImportKey(tx, store.APIKey{ID: "key_big", OrgID: "org_big", Scopes: store.ScopeRead, CreatedBy: "usr_big", SecretHash: store.HashSecret("big-secret")})
		_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{
			ID: "whe_big", OrgID: "org_big", URL: "https://127.0.0.1:1/", Events: store.BuiltInEventTypes, DisabledAt: tx.Now(),
		})
		return errors.Join(errOrg, errOwner, errKey, errEndpoint)
	})
	each(members, func(tx store.Tx, i int) error {
		_, err := store.ImportMember(tx, store.Member{OrgID: "org_big", UserID: fmt.Sprintf("usr_big_%d", i), Role: store.RoleMember, Name: "A name", Email: "a@big.example"})
		return err
	})
	each(entries, func(tx store.Tx, i int) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_big", ActorID: "usr_big", Action: "door.opened", TargetID: fmt.Sprint("door_", i)})
		return err
	})
	each(members/10, func(tx store.Tx, _ int) error {
		_, err := store.UploadFile(tx, "usr_big", store.File{OrgID: "org_big", Name: "a", ContentType: "b"})
		return err
	})
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// p99s are the 99th percentiles of how long the clients of the busy org waited.
type p99s struct{ reads, writes time.Duration }

// beside measures for a while two clients who read pages and two programs that push
// entries, each with a request every 5 ms.
func beside(t *testing.T, p *program.Process, o program.Operator, lasts time.Duration) p99s {
	t.Helper()
	var mu sync.Mutex
	var stop atomic.Bool
	var group sync.WaitGroup
	measure := func(took *[]time.Duration, request func() error) {
		group.Go(func() {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for !stop.Load() {
				<-tick.C
				began := time.Now()
				if err := request(); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				*took = append(*took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	var reads, writes []time.Duration
	for range 2 {
		measure(&reads, func() error {
			a, err := p.Get("/audit-log?limit=100", program.ReadKey)
			if err == nil && a.Status != http.StatusOK {
				err = fmt.Errorf("a page was answered %d %s", a.Status, a.Body)
			}
			return err
		})
		measure(&writes, func() error {
			status, answer, err := o.Do("POST", "/orgs/org_acme/audit-log", `{"action":"door.opened"}`)
			if err == nil && status != http.StatusCreated {
				err = fmt.Errorf("an entry was answered %d %s", status, answer)
			}
			return err
		})
	}
	<-time.After(lasts)
	stop.Store(true)
	group.Wait()
	return p99s{p99(reads), p99(writes)}
}

func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	if len(took) == 0 {
		return 0
	}
	return took[len(took)*99/100].Round(10 * time.Microsecond)
}

// findInFile searches a whole data file for a text, and returns where it is, apart from
// the operator's log, which says that there was such an org.
func findInFile(t *testing.T, data, text string) (places []string) {
	t.Helper()
	db, err := bbolt.Open(data, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	kit.Must(t, err)
	defer db.Close()
	var walk func(name string, b *bbolt.Bucket) error
	walk = func(name string, b *bbolt.Bucket) error {
		return b.ForEach(func(key, value []byte) error {
			if value == nil {
				return walk(fmt.Sprintf("%s/%q", name, key), b.Bucket(key))
			}
			ofOperator := name == "auditLog" && key[0] == 0
			if !ofOperator && (bytes.Contains(key, []byte(text)) || bytes.Contains(value, []byte(text))) {
				places = append(places, fmt.Sprintf("%s %q", name, key))
			}
			return nil
		})
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return walk(string(name), b) })
	})
	kit.Must(t, err)
	return places
}
