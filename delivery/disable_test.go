package delivery

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/delivery/mail"
	"teamdata/store"
)

// The disable rule over real sockets, with a short schedule: disabled after the
// last attempt, held, enabled, drained; and what had failed, replayed.
func TestDisabledHeldAndDrained(t *testing.T) {
	env := newEnv(t)
	var well atomic.Bool
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	start := time.Now()
	disabled := make(chan struct{}, 1)
	env.run(Config{
		RootCAs:  r.roots(),
		Schedule: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond},
		Mailed:   func() { disabled <- struct{}{} },
	})
	env.addManagers()
	e := env.endpoint(r.URL)
	first := env.sendTest(e.ID)
	for range 6 {
		verify(t, e.Secret, r.next(t))
	}
	<-disabled
	held := env.emitTo(e, 20)
	env.view(func(tx store.Tx) error {
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
	env.update(func(tx store.Tx) error { return store.EnableEndpoint(tx, "usr_ada", testOrg, e.ID) })
	for range held {
		verify(t, e.Secret, r.next(t))
	}
	if n := env.replaySince(e.ID, start); n != 1 {
		t.Errorf("%d deliveries were replayed", n)
	}
	if again := r.next(t); again.header.Get("webhook-id") != first.ID {
		t.Errorf("%s was replayed, not %s", again.header.Get("webhook-id"), first.ID)
	}
	if d := env.awaitState(first.ID, store.StateAcknowledged); len(d.History) != 7 {
		t.Errorf("%d attempts were kept", len(d.History))
	}
}

// The disable rule from the first attempt to the drain, by the contract's
// schedule and clock: an endpoint that acknowledges nothing is disabled with
// the sixth attempt, after 781 minutes; its owners and admins get mail; what
// happens then is held; enabled again, it gets everything, in order.
func TestFromTheFirstFailureToTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.addManagers()
		start := time.Now()
		r := &switchedReceiver{}
		d := New(env.store, Config{Mailed: func() {}})
		var mailed []mail.Message
		m := NewMailer(env.store, nil, nil, time.Now, d.config.Log)
		m.send = func(_ context.Context, message mail.Message) error {
			mailed = append(mailed, message)
			return nil
		}
		d.config.Mailed, d.send = m.Wake, r.send
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { d.Run(ctx, ctx) })
		running.Go(func() { m.Run(ctx, ctx) })

		e := env.endpoint("https://receiver.example/hook")
		first := env.sendTest(e.ID)
		<-time.After(781*time.Minute - time.Second)
		if env.isDisabled(e.ID) {
			t.Fatal("the endpoint is disabled before the last attempt")
		}
		<-time.After(2 * time.Second)
		if !env.isDisabled(e.ID) || env.delivery(first.ID).State != store.StateFailed {
			t.Fatalf("after the last attempt the delivery is %s, and the endpoint disabled: %t", env.delivery(first.ID).State, env.isDisabled(e.ID))
		}
		if at := env.delivery(first.ID).FinishedAt.Sub(start); at < 781*time.Minute {
			t.Errorf("it failed after %s", at)
		}
		synctest.Wait()
		if to := recipients(mailed); !slices.Equal(to, []string{"ada@test.example", "bob@test.example"}) {
			t.Errorf("mail went to %v", to)
		}
		if why := mailed[0].Values["lastReason"]; why != "it is off" {
			t.Errorf("the mail says %q", why)
		}

		held := env.emitTo(e, 100)
		<-time.After(24 * time.Hour)
		if n := len(r.seen()); n != 6 {
			t.Errorf("%d attempts were made, of which %d of held deliveries", n, n-6)
		}
		r.on()
		env.update(func(tx store.Tx) error { return store.EnableEndpoint(tx, "", testOrg, e.ID) })
		<-time.After(time.Minute)
		got := r.seen()[6:]
		for i, id := range held { // in order, but for those in flight at the same time
			if at := slices.Index(got, id); at < 0 || at-i >= DefaultPerEndpoint || i-at >= DefaultPerEndpoint {
				t.Errorf("%s, number %d of what was held, came as number %d", id, i, at)
			}
		}
		if len(got) != len(held) {
			t.Errorf("%d were held, and %d attempts made", len(held), len(got))
		}
		if n := env.replaySince(e.ID, start); n != 1 {
			t.Errorf("%d deliveries were replayed", n)
		}
		<-time.After(time.Minute)
		if d := env.delivery(first.ID); d.State != store.StateAcknowledged || len(d.History) != 7 {
			t.Errorf("the replayed delivery is %s after %d attempts", d.State, len(d.History))
		}
		cancel()
		running.Wait()
		env.store.Close()
	})
}

func recipients(mails []mail.Message) (to []string) {
	for _, m := range mails {
		to = append(to, m.To)
	}
	slices.SortFunc(to, strings.Compare)
	return to
}
