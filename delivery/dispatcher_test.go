package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

// Events, Delivery: a signed HTTPS POST with a JSON body in the envelope.
func TestDeliversASignedEvent(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	b.run(Config{RootCAs: r.roots()})
	e := b.endpoint(r.URL + "/hook")
	d := b.sendTest(e.ID)

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
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatal(err)
	}
	if _, err := store.ParseTime(body.Timestamp); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf(`{"type":"webhook.test","timestamp":%q,"data":{"orgId":%q,"endpointId":%q}}`, body.Timestamp, testOrg, e.ID)
	if string(got.body) != want {
		t.Errorf("body is %s", got.body)
	}
	if d := b.awaitState(d.ID, store.StateAcknowledged); d.Attempts != 1 {
		t.Errorf("%d attempts were counted", d.Attempts)
	}
}

// Each of the contract's events reaches exactly the endpoints that chose it.
func TestEventsFanOut(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	b.run(Config{RootCAs: r.roots()})
	changes := map[string]func(store.Tx) error{
		store.EventMemberAdded: func(tx store.Tx) error {
			_, err := store.AddMember(tx, "", store.Member{OrgID: testOrg, UserID: "usr_1", Role: "member"})
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
	for _, name := range store.BuiltInEventTypes[:5] {
		b.endpoint(r.URL+"/"+name, name)
	}
	for _, name := range store.BuiltInEventTypes[:5] {
		b.update(changes[name])
		var body struct{ Type string }
		if err := json.Unmarshal(r.next(t).body, &body); err != nil || body.Type != name {
			t.Errorf("%s sent %q (%v)", name, body.Type, err)
		}
	}
	if len(r.got) > 0 {
		t.Errorf("%d deliveries too many", len(r.got))
	}
}

// States, Delivery: any 2xx acknowledges; anything else is retried, with the
// same id and body and a fresh timestamp, until the schedule is used up.
func TestRetriesUntilTheScheduleIsUsedUp(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, status(http.StatusInternalServerError))
	schedule := []time.Duration{time.Millisecond, time.Millisecond, 1100 * time.Millisecond, time.Millisecond, time.Millisecond}
	b.run(Config{RootCAs: r.roots(), Schedule: schedule})
	e := b.endpoint(r.URL)
	d := b.sendTest(e.ID)

	var requests []received
	for range 6 {
		requests = append(requests, r.next(t))
	}
	if d := b.awaitState(d.ID, store.StateFailed); d.Attempts != 6 {
		t.Errorf("%d attempts were counted", d.Attempts)
	}
	for i, got := range requests {
		verify(t, e.Secret, got)
		if got.header.Get("webhook-id") != d.ID || string(got.body) != string(requests[0].body) {
			t.Errorf("attempt %d has another id or body", i+1)
		}
		if i > 0 && got.at.Sub(requests[i-1].at) < schedule[i-1] {
			t.Errorf("attempt %d came %s after the one before, too early", i+1, got.at.Sub(requests[i-1].at))
		}
	}
	if requests[2].header.Get("webhook-timestamp") == requests[3].header.Get("webhook-timestamp") {
		t.Error("attempts a second apart carry the same timestamp")
	}
	if len(r.got) > 0 {
		t.Error("a failed delivery was sent again")
	}
}

func TestAnswersThatAcknowledge(t *testing.T) {
	for code, want := range map[int]store.DeliveryState{
		200: store.StateAcknowledged, 204: store.StateAcknowledged, 299: store.StateAcknowledged,
		300: store.StateFailed, 302: store.StateFailed, 404: store.StateFailed, 410: store.StateFailed, 503: store.StateFailed,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Location", "https://"+q.Host+"/elsewhere")
				w.WriteHeader(code)
			})
			b.run(Config{RootCAs: r.roots(), Schedule: []time.Duration{}})
			b.awaitState(b.sendTest(b.endpoint(r.URL).ID).ID, want)
			if r.next(t); len(r.got) > 0 {
				t.Error("a redirect was followed")
			}
		})
	}
}

// The contract's schedule to the minute, in no time: 6 attempts at 0, 1, 6, 31,
// 156 and 781 minutes.
func TestTheContractsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		start := time.Now()
		var at []time.Duration
		d := New(b.store, Config{})
		d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
			at = append(at, time.Since(start))
			<-time.After(14 * time.Second) // the next is due after the attempt's end
			return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Reason: "it is off"}, "connect"
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx, ctx) }()
		sent := b.sendTest(b.endpoint("https://receiver.example/").ID)
		<-time.After(24 * time.Hour) // of the bubble
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if d := b.delivery(sent.ID); d.State != store.StateFailed {
			t.Errorf("the delivery is %s", d.State)
		}
		want := []time.Duration{0, 1, 6, 31, 156, 781}
		if len(at) != len(want) {
			t.Fatalf("attempts at %v", at)
		}
		for i := range want {
			due := want[i]*time.Minute + time.Duration(i)*14*time.Second
			if early := due - at[i]; early > 0 || -early > time.Second {
				t.Errorf("attempt %d came at %s, not within a second after %s", i+1, at[i], due)
			}
		}
		b.store.Close()
	})
}

// A restart resumes where it stopped: what is overdue goes out at once, what
// was in flight is sent again.
func TestRestartResumes(t *testing.T) {
	b := newBench(t)
	hang := make(chan struct{})
	var hanging atomic.Bool
	hanging.Store(true)
	r := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		if hanging.Load() {
			select {
			case <-hang:
			case <-q.Context().Done():
			}
		}
	})
	stop := b.run(Config{RootCAs: r.roots()})
	d := b.sendTest(b.endpoint(r.URL).ID)
	first := r.next(t)
	stop() // cuts the attempt off: it does not count
	if d := b.delivery(d.ID); d.State != store.StatePending || d.Attempts != 0 {
		t.Fatalf("after the stop the delivery is %s with %d attempts", d.State, d.Attempts)
	}
	close(hang)
	hanging.Store(false)
	b.store.Close()
	b.open()
	b.run(Config{RootCAs: r.roots()})
	if second := r.next(t); second.header.Get("webhook-id") != first.header.Get("webhook-id") {
		t.Error("the attempt made again has another id")
	}
	b.awaitState(d.ID, store.StateAcknowledged)
}

// A graceful stop waits for what is in flight.
func TestStopWaitsForAttempts(t *testing.T) {
	b := newBench(t)
	answer := make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-answer })
	d := New(b.store, Config{RootCAs: r.roots()})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx, context.Background()) }()
	sent := b.sendTest(b.endpoint(r.URL).ID)
	r.next(t)
	cancel()
	close(answer)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if d := b.delivery(sent.ID); d.State != store.StateAcknowledged {
		t.Errorf("after the stop the delivery is %s", d.State)
	}
}

// One receiver that hangs takes nothing from another.
func TestASlowReceiverHurtsNobodyElse(t *testing.T) {
	b := newBench(t)
	slow := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	quick := newReceiver(t, nil)
	roots := slow.roots()
	roots.AddCert(quick.Certificate())
	stop := b.run(Config{RootCAs: roots})
	slowID, quickID := b.endpoint(slow.URL).ID, b.endpoint(quick.URL).ID
	for range 50 {
		b.sendTest(slowID)
	}
	for range 20 {
		b.awaitState(b.sendTest(quickID).ID, store.StateAcknowledged)
	}
	if n := len(slow.got); n > 1 {
		t.Errorf("%d attempts are in flight to a receiver that never acknowledged", n)
	}
	stop()
}

// A crowd of receivers that hang takes no more than half of what may be in
// flight, so that one that answers goes on as before.
func TestACrowdOfDeadReceivers(t *testing.T) {
	b := newBench(t)
	hang := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	quick := newReceiver(t, nil)
	roots := hang.roots()
	roots.AddCert(quick.Certificate())
	stop := b.run(Config{RootCAs: roots, Total: 4})
	quickID := b.endpoint(quick.URL).ID
	b.awaitState(b.sendTest(quickID).ID, store.StateAcknowledged)
	for i := range 12 {
		b.sendTest(b.endpoint(fmt.Sprintf("%s/%d", hang.URL, i)).ID)
	}
	for range 2 {
		hang.next(t)
	}
	for range 20 {
		b.awaitState(b.sendTest(quickID).ID, store.StateAcknowledged)
	}
	if n := len(hang.got); n > 0 {
		t.Errorf("%d attempts more than 2 of 4 are in flight to receivers that never acknowledged", n)
	}
	stop()
}

// Those of the crowd that wait get their turn as others time out.
func TestACrowdTakesTurns(t *testing.T) {
	b := newBench(t)
	hang := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	b.run(Config{RootCAs: hang.roots(), Total: 4, AttemptTimeout: 50 * time.Millisecond, Schedule: []time.Duration{}})
	var sent []store.Delivery
	for i := range 12 {
		sent = append(sent, b.sendTest(b.endpoint(fmt.Sprintf("%s/%d", hang.URL, i)).ID))
	}
	for _, d := range sent {
		b.awaitState(d.ID, store.StateFailed)
	}
}

// Many deliveries, all of them arrive once.
func TestDrainsABacklog(t *testing.T) {
	b := newBench(t)
	const n = 500
	r := newReceiver(t, nil)
	r.got = make(chan received, 2*n)
	e := b.endpoint(r.URL)
	b.update(func(tx store.Tx) error {
		for range n {
			if _, err := store.SendTest(tx, testOrg, e.ID); err != nil {
				return err
			}
		}
		return nil
	})
	b.run(Config{RootCAs: r.roots()})
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
	b := newBench(t)
	r := newReceiver(t, nil)
	off, on := b.endpoint(r.URL+"/off", store.EventMemberAdded), b.endpoint(r.URL+"/on", store.EventMemberAdded)
	b.update(func(tx store.Tx) error {
		off.DisabledAt = tx.Now()
		return tx.PutEndpoint(off)
	})
	b.run(Config{RootCAs: r.roots()})
	b.update(func(tx store.Tx) error {
		_, err := store.AddMember(tx, "", store.Member{OrgID: testOrg, UserID: "usr_1", Role: "member"})
		return err
	})
	verify(t, on.Secret, r.next(t))
	b.update(func(tx store.Tx) error {
		off.DisabledAt = time.Time{}
		return tx.PutEndpoint(off)
	})
	verify(t, off.Secret, r.next(t)) // enabled again, it gets what was held
}
