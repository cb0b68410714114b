package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// Events, Delivery: a signed HTTPS POST with a JSON body in the envelope.
func TestDeliversASignedEvent(t *testing.T) {
	env := newEnv(t)
	r := newReceiver(t, nil)
	env.run(Config{RootCAs: r.roots()})
	e := env.endpoint(r.URL + "/hook")
	d := env.sendTest(e.ID)

	got := r.next(t)
	verify(t, e.Secret, got)
	if id := got.header.Get("webhook-id"); id != d.ID {
		t.Errorf("webhook-id is %q, the delivery is %q", id, d.ID)
	}
	if ct := got.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type is %q", ct)
	}
	var body struct {
		Type, Timestamp string
		Data            map[string]any
	}
	kit.Must(t, json.Unmarshal(got.body, &body))
	if _, err := store.ParseTime(body.Timestamp); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf(`{"type":"webhook.test","timestamp":%q,"data":{"orgId":%q,"endpointId":%q}}`, body.Timestamp, testOrg, e.ID)
	if string(got.body) != want {
		t.Errorf("body is %s", got.body)
	}
	if d := env.awaitState(d.ID, store.StateAcknowledged); d.Attempts != 1 {
		t.Errorf("%d attempts were counted", d.Attempts)
	}
}

// Each of the built-in events reaches exactly the endpoints that chose it.
func TestEventsFanOut(t *testing.T) {
	env := newEnv(t)
	r := newReceiver(t, nil)
	env.run(Config{RootCAs: r.roots()})
	changes := map[string]func(store.Tx) error{
		store.EventMemberAdded: func(tx store.Tx) error {
			_, err := store.AddMember(tx, "", store.Member{OrgID: testOrg, UserID: "usr_1", Role: "member"})
			return err
		},
		store.EventMemberChanged: func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "", testOrg, "usr_1", store.MemberChange{Name: new("Zoë")})
			return err
		},
		store.EventMemberRemoved: func(tx store.Tx) error { return store.RemoveMember(tx, "", testOrg, "usr_1") },
		store.EventSubscriptionChanged: func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", testOrg, store.Subscription{Product: "p", Plan: "team", Interval: "year", Status: "active"})
			return err
		},
		store.EventFileUploaded: func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "", store.File{OrgID: testOrg, Name: "Résumé.pdf", ContentType: "application/pdf", Size: 7})
			return err
		},
		store.EventInstructionsChanged: func(tx store.Tx) error { return store.SetInstructions(tx, "", testOrg, "Be brief.", true) },
	}
	for _, name := range store.BuiltInEventTypes[:6] {
		env.endpoint(r.URL+"/"+name, name)
	}
	for _, name := range store.BuiltInEventTypes[:6] {
		env.update(changes[name])
		var body struct{ Type string }
		if err := json.Unmarshal(r.next(t).body, &body); err != nil || body.Type != name {
			t.Errorf("%s sent %q (%v)", name, body.Type, err)
		}
	}
	if len(r.got) > 0 {
		t.Errorf("%d deliveries too many", len(r.got))
	}
}

func TestAnswersThatAcknowledge(t *testing.T) {
	for code, want := range map[int]store.DeliveryState{
		200: store.StateAcknowledged, 204: store.StateAcknowledged, 299: store.StateAcknowledged,
		300: store.StateFailed, 302: store.StateFailed, 404: store.StateFailed, 410: store.StateFailed, 503: store.StateFailed,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Location", "https://"+q.Host+"/elsewhere")
				w.WriteHeader(code)
			})
			env.run(Config{RootCAs: r.roots(), Schedule: []time.Duration{}})
			env.awaitState(env.sendTest(env.endpoint(r.URL).ID).ID, want)
			if r.next(t); len(r.got) > 0 {
				t.Error("a redirect was followed")
			}
		})
	}
}

// Many deliveries, all of them arrive once.
func TestDrainsABacklog(t *testing.T) {
	env := newEnv(t)
	const n = 500
	r := newReceiver(t, nil)
	r.got = make(chan received, 2*n)
	e := env.endpoint(r.URL)
	env.update(func(tx store.Tx) error {
		for range n {
			if _, err := store.SendTest(tx, testOrg, e.ID); err != nil {
				return err
			}
		}
		return nil
	})
	env.run(Config{RootCAs: r.roots()})
	seen := map[string]bool{}
	for range n {
		id := r.next(t).header.Get("webhook-id")
		if seen[id] {
			t.Fatalf("%s arrived twice", id)
		}
		seen[id] = true
	}
}

// A disabled endpoint's events wait; nothing is sent to it.
func TestDisabledEndpointIsLeftAlone(t *testing.T) {
	env := newEnv(t)
	r := newReceiver(t, nil)
	off, on := env.endpoint(r.URL+"/off", store.EventMemberAdded), env.endpoint(r.URL+"/on", store.EventMemberAdded)
	env.update(func(tx store.Tx) error {
		off.DisabledAt = tx.Now()
		return tx.PutEndpoint(off)
	})
	env.run(Config{RootCAs: r.roots()})
	env.update(func(tx store.Tx) error {
		_, err := store.AddMember(tx, "", store.Member{OrgID: testOrg, UserID: "usr_1", Role: "member"})
		return err
	})
	verify(t, on.Secret, r.next(t))
	env.update(func(tx store.Tx) error {
		off.DisabledAt = time.Time{}
		return tx.PutEndpoint(off)
	})
	verify(t, off.Secret, r.next(t)) // enabled again, it gets what was held
}

// Each built-in event goes out as it is described; newReceiver checks
// each request.
func TestEventsAreSentAsDescribed(t *testing.T) {
	env := newEnv(t)
	r := newReceiver(t, nil)
	e := env.endpoint(r.URL, store.BuiltInEventTypes...)
	env.run(Config{RootCAs: r.roots()})
	all := []func(store.Tx) error{
		func(tx store.Tx) error {
			_, err := store.AddMember(tx, "", store.Member{OrgID: testOrg, UserID: "usr_zoe", Role: "member", Name: "Zoë"})
			return err
		},
		func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "", testOrg, "usr_zoe", store.MemberChange{Role: new("admin"), Name: new("")})
			return err
		},
		func(tx store.Tx) error { return store.RemoveMember(tx, "", testOrg, "usr_zoe") },
		func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", testOrg, store.Subscription{Plan: "business"})
			return err
		},
		func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "", store.File{OrgID: testOrg, Name: "a.pdf", ContentType: "application/pdf", Size: 1 << 40})
			return err
		},
		func(tx store.Tx) error { return store.SetInstructions(tx, "", testOrg, "", false) },
		func(tx store.Tx) error { _, err := store.SendTest(tx, testOrg, e.ID); return err },
		func(tx store.Tx) error { return store.SignalBackupFailed(tx, testOrg, "no space left on device") },
	}
	for _, happens := range all {
		env.update(happens)
	}
	for range all {
		r.next(t)
	}
}

// A dispatcher is alive while Run comes around: not before, and not afterwards.
func TestAlive(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	d := New(s, Config{})
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := d.Alive(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before Run: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx, t.Context()) }()
	for range 3 {
		if err := d.Alive(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	soon, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := d.Alive(soon); err == nil {
		t.Error("alive after the end of Run")
	}
}

// panicking is a store whose deliveries can't even be asked for.
type panicking struct{ store.Store }

func (panicking) Claim(context.Context, uint64, time.Time, int) (store.Claims, error) { panic("Claim") }

// A panic ends Run, and with it the process, which is started again. It would not send
// anything any more.
func TestPanicEndsRun(t *testing.T) {
	env := newEnv(t)
	d := New(panicking{env.store}, Config{})
	env.sendTest(env.endpoint("https://receiver.example/hook").ID)
	defer func() {
		if recover() == nil {
			t.Error("it did not panic")
		}
	}()
	t.Error(d.Run(t.Context(), t.Context()))
}

// stopped is a store at which a dispatcher is stopped by its first Claim.
type stopped struct {
	store.Store
	stop   context.CancelFunc
	claims int
}

func (s *stopped) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	s.claims++
	s.stop()
	return s.Store.Claim(ctx, endpoint, now, limit)
}

// A dispatcher that is stopped claims nothing more, however many endpoints wait for a
// turn: other nodes wait for it to hand them over.
func TestStoppedInTheMidstOfTurns(t *testing.T) {
	env := newEnv(t)
	env.sendToAll([]string{"https://a.example", "https://b.example", "https://c.example"})
	ctx, stop := context.WithCancel(t.Context())
	s := &stopped{Store: env.store, stop: stop}
	d := New(s, Config{})
	d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
		return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: 200}, "acknowledged"
	}
	if err := d.Run(ctx, t.Context()); err != nil || s.claims != 1 {
		t.Errorf("it claimed %d times, %v", s.claims, err)
	}
}
