package delivery

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// Orgs take turns, and within each its endpoints, whatever their number.
func TestFairQueue(t *testing.T) {
	var queue fairQueue
	for _, l := range []endpointQueue{{endpoint: 1, org: "a"}, {endpoint: 2, org: "a"}, {endpoint: 3, org: "a"}, {endpoint: 4, org: "b"}, {endpoint: 5, org: "c"}, {endpoint: 6, org: "c"}} {
		queue.push(&l)
	}
	var got []uint64
	for range 4 {
		got = append(got, queue.pop().endpoint)
	}
	queue.push(&endpointQueue{endpoint: 7, org: "b"})
	for !queue.empty() {
		got = append(got, queue.pop().endpoint)
	}
	if want := []uint64{1, 4, 5, 2, 6, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("the endpoints come as %v, not %v", got, want)
	}
}

// An org with 50 busy endpoints delays another org's only endpoint by no more than
// a few attempts.
func TestOrgsTakeTurns(t *testing.T) {
	env := newEnv(t)
	busy, quiet := newHeld(t), newReceiver(t, nil)
	roots := busy.roots()
	roots.AddCert(quiet.Certificate())
	const endpoints, each, total = store.MaxEndpoints, 6, 4
	var busyIDs []string
	for i := range endpoints {
		busyIDs = append(busyIDs, env.endpoint(fmt.Sprintf("%s/%d", busy.URL, i)).ID)
	}
	env.sendTests(busyIDs, each)
	small := env.smallOrg(quiet.URL)
	stop := env.run(Config{RootCAs: roots, Total: total})
	had := map[string]bool{} // the endpoints that had a turn
	for len(had) < endpoints {
		had[busy.next(t).endpoint()] = true
		busy.answer(1, http.StatusInternalServerError)
	}
	env.update(func(tx store.Tx) error {
		_, err := store.SendTest(tx, small.OrgID, small.ID)
		return err
	})
	busy.answer(total, http.StatusInternalServerError) // of more than 200 that wait
	quiet.next(t)
	stop()
}

// One receiver that hangs takes nothing from another.
func TestASlowReceiverHurtsNobodyElse(t *testing.T) {
	env := newEnv(t)
	slow := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	quick := newReceiver(t, nil)
	roots := slow.roots()
	roots.AddCert(quick.Certificate())
	stop := env.run(Config{RootCAs: roots})
	slowID, quickID := env.endpoint(slow.URL).ID, env.endpoint(quick.URL).ID
	for range 50 {
		env.sendTest(slowID)
	}
	for range 20 {
		env.awaitState(env.sendTest(quickID).ID, store.StateAcknowledged)
	}
	if n := len(slow.got); n > 1 {
		t.Errorf("%d attempts are in flight to a receiver that never acknowledged", n)
	}
	stop()
}

// Many receivers that hang take no more than half of what may be in
// flight, so that one that answers goes on as before.
func TestManyDeadReceivers(t *testing.T) {
	env := newEnv(t)
	hang := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	quick := newReceiver(t, nil)
	roots := hang.roots()
	roots.AddCert(quick.Certificate())
	stop := env.run(Config{RootCAs: roots, Total: 4})
	quickID := env.endpoint(quick.URL).ID
	env.awaitState(env.sendTest(quickID).ID, store.StateAcknowledged)
	for i := range 12 {
		env.sendTest(env.endpoint(fmt.Sprintf("%s/%d", hang.URL, i)).ID)
	}
	for range 2 {
		hang.next(t)
	}
	for range 20 {
		env.awaitState(env.sendTest(quickID).ID, store.StateAcknowledged)
	}
	if n := len(hang.got); n > 0 {
		t.Errorf("%d attempts more than 2 of 4 are in flight to receivers that never acknowledged", n)
	}
	stop()
}

// Endpoints that wait behind many dead ones get their turns as those time out.
func TestDeadReceiversTakeTurns(t *testing.T) {
	env := newEnv(t)
	hang := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	env.run(Config{RootCAs: hang.roots(), Total: 4, AttemptTimeout: 50 * time.Millisecond, Schedule: []time.Duration{}})
	var sent []store.Delivery
	for i := range 12 {
		sent = append(sent, env.sendTest(env.endpoint(fmt.Sprintf("%s/%d", hang.URL, i)).ID))
	}
	for _, d := range sent {
		env.awaitState(d.ID, store.StateFailed)
	}
}
