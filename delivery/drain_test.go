package delivery

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

// The disable rule over real sockets, with a short schedule: disabled after the
// last attempt, held, enabled, drained; and what had failed, recovered.
func TestDisabledHeldAndDrained(t *testing.T) {
	b := newBench(t)
	var well atomic.Bool
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	start := time.Now()
	disabled := make(chan struct{}, 1)
	b.run(Config{
		RootCAs:  r.roots(),
		Schedule: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond},
		Mailed:   func() { disabled <- struct{}{} },
	})
	b.addManagers()
	e := b.endpoint(r.URL)
	first := b.sendTest(e.ID)
	for range 6 {
		verify(t, e.Secret, r.next(t))
	}
	<-disabled
	held := b.emitTo(e, 20)
	b.view(func(tx store.Tx) error {
		off, err := tx.Endpoint(testOrg, e.ID)
		if d, _ := tx.Delivery(held[0]); d.StateAt(&off) != store.StateHeld {
			t.Errorf("after the last attempt a new delivery is %s", d.StateAt(&off))
		}
		mails, _ := tx.Mails("", 9)
		if len(mails) != 2 {
			t.Errorf("%d mails wait", len(mails))
		}
		return err
	})
	if len(r.got) > 0 {
		t.Errorf("%d requests came to a disabled endpoint", len(r.got))
	}

	well.Store(true)
	b.update(func(tx store.Tx) error { return store.EnableEndpoint(tx, "usr_ada", testOrg, e.ID) })
	for range held {
		verify(t, e.Secret, r.next(t))
	}
	if n, err := store.Recover(t.Context(), b.store, "usr_ada", testOrg, e.ID, start); n != 1 || err != nil {
		t.Errorf("%d deliveries were recovered: %v", n, err)
	}
	if again := r.next(t); again.header.Get("webhook-id") != first.ID {
		t.Errorf("%s was recovered, not %s", again.header.Get("webhook-id"), first.ID)
	}
	if d := b.awaitState(first.ID, store.StateAcknowledged); len(d.History) != 7 {
		t.Errorf("%d attempts were kept", len(d.History))
	}
}
