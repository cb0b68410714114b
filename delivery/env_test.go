package delivery

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

const testOrg = "org_test"

// env is a store with one org, for tests of the dispatcher.
type env struct {
	testing.TB
	store store.Store // whose Updates are held to their scopes
	path  string
}

func (env *env) open() {
	env.Helper()
	s, err := boltstore.Open(env.path, boltstore.Options{})
	kit.Must(env, err)
	env.store = storetest.Scoped(env, s)
}

func (env *env) update(fn func(store.Tx) error) {
	env.Helper()
	kit.Must(env, env.store.Update(context.Background(), store.All, fn))
}

func (env *env) endpoint(url string, events ...string) (e store.Endpoint) {
	env.Helper()
	if len(events) == 0 {
		events = []string{store.EventWebhookTest}
	}
	env.update(func(tx store.Tx) (err error) {
		e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: testOrg, URL: url, Events: events})
		return err
	})
	return e
}

func (env *env) sendTest(endpointID string) (d store.Delivery) {
	env.Helper()
	env.update(func(tx store.Tx) (err error) {
		d, err = store.SendTest(tx, testOrg, endpointID)
		return err
	})
	return d
}

func (env *env) delivery(id string) (d store.Delivery) {
	env.Helper()
	err := env.store.View(context.Background(), func(tx store.Tx) (err error) {
		d, err = tx.Delivery(id)
		return err
	})
	kit.Must(env, err)
	return d
}

// replaySince replays what an endpoint did not get since a time, and returns how many
// deliveries that were.
func (env *env) replaySince(endpointID string, since time.Time) int {
	env.Helper()
	var j store.ReplayJob
	env.update(func(tx store.Tx) (err error) {
		j, err = store.StartReplay(tx, "usr_ada", store.ReplayJob{OrgID: testOrg, Filter: store.DeliveryFilter{Endpoint: endpointID, Since: since}})
		return err
	})
	kit.Must(env, store.RunReplays(context.Background(), env.store))
	env.view(func(tx store.Tx) (err error) {
		j, err = tx.ReplayJob(j.ID)
		return err
	})
	return j.Done
}

// run starts a dispatcher; stop ends it at once.
func (env *env) run(c Config) (stop func()) {
	env.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d := New(env.store, c)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			env.Error(err)
		}
	})
	env.Cleanup(stop)
	return stop
}

// awaitState waits until a delivery is in a state.
func (env *env) awaitState(id string, want store.DeliveryState) store.Delivery {
	env.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if d := env.delivery(id); d.State == want {
			return d
		}
		select {
		case <-deadline:
			env.Fatalf("delivery %s is %s, not %s", id, env.delivery(id).State, want)
		case <-tick.C:
		}
	}
}

func newEnv(t testing.TB) *env {
	env := &env{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	env.open()
	env.update(func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: testOrg, Name: "Test"})
		return err
	})
	t.Cleanup(func() { env.store.Close() })
	return env
}

// of is the environment for a subtest.
func (env *env) of(t testing.TB) *env {
	c := *env
	c.TB = t
	return &c
}

// sendToAll sends to each of the URLs, queued in one commit.
func (env *env) sendToAll(urls []string) (deliveryIDs []string) {
	env.Helper()
	env.update(func(tx store.Tx) error {
		for _, url := range urls {
			e, err := store.ImportEndpoint(tx, store.Endpoint{OrgID: testOrg, URL: url, Events: []string{store.EventWebhookTest}})
			if err != nil {
				return err
			}
			d, err := store.SendTest(tx, testOrg, e.ID)
			if err != nil {
				return err
			}
			deliveryIDs = append(deliveryIDs, d.ID)
		}
		return nil
	})
	return deliveryIDs
}

// onlyAttempt sends to a URL, and returns the one attempt that is made.
func (env *env) onlyAttempt(url string, want store.DeliveryState) store.Attempt {
	env.Helper()
	return env.onlyAttemptOf(env.sendTest(env.endpoint(url).ID).ID, want)
}

func (env *env) onlyAttemptOf(deliveryID string, want store.DeliveryState) store.Attempt {
	env.Helper()
	d := env.awaitState(deliveryID, want)
	if d.Attempts != 1 || len(d.History) != 1 {
		env.Fatalf("%d attempts were counted and %d kept, not one", d.Attempts, len(d.History))
	}
	return d.History[0]
}

// addManagers gives the org an owner and an admin with addresses, an admin
// without, and a member.
func (env *env) addManagers() {
	env.Helper()
	env.update(func(tx store.Tx) error {
		for _, m := range []store.Member{
			{UserID: "usr_ada", Role: store.RoleOwner, Name: "Ada", Email: "ada@test.example"},
			{UserID: "usr_bob", Role: store.RoleAdmin, Email: "bob@test.example"},
			{UserID: "usr_cy", Role: store.RoleAdmin},
			{UserID: "usr_dee", Role: store.RoleMember, Email: "dee@test.example"},
		} {
			m.OrgID = testOrg
			if _, err := store.ImportMember(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// emitTo uploads files, an event each to the endpoint, and returns the ids of
// the deliveries in order.
func (env *env) emitTo(e store.Endpoint, n int) (ids []string) {
	env.Helper()
	env.update(func(tx store.Tx) (err error) {
		if e, err = tx.Endpoint(testOrg, e.ID); err != nil {
			return err
		}
		e.Events = []string{store.EventFileUploaded}
		return tx.PutEndpoint(e)
	})
	for range n {
		env.update(func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "", store.File{OrgID: testOrg, Name: "a", ContentType: "b"})
			return err
		})
	}
	env.view(func(tx store.Tx) error {
		page, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, n+1)
		for _, d := range page {
			ids = append(ids, d.ID)
		}
		return err
	})
	return ids
}

func (env *env) isDisabled(id string) (disabled bool) {
	env.Helper()
	env.view(func(tx store.Tx) error {
		e, err := tx.Endpoint(testOrg, id)
		disabled = e.Disabled()
		return err
	})
	return disabled
}

func (env *env) view(fn func(store.Tx) error) {
	env.Helper()
	kit.Must(env, env.store.View(context.Background(), fn))
}

// sendTests sends n tests to each of the endpoints, in one commit.
func (env *env) sendTests(endpointIDs []string, n int) {
	env.Helper()
	env.update(func(tx store.Tx) error {
		for i := range n * len(endpointIDs) {
			if _, err := store.SendTest(tx, testOrg, endpointIDs[i%len(endpointIDs)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// smallOrg makes another org with one endpoint.
func (env *env) smallOrg(url string) (e store.Endpoint) {
	env.Helper()
	env.update(func(tx store.Tx) (err error) {
		if _, err = store.ImportOrg(tx, store.Org{ID: "org_small", Name: "Small"}); err != nil {
			return err
		}
		e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: "org_small", URL: url, Events: []string{store.EventWebhookTest}})
		return err
	})
	return e
}
