package delivery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

// A delivery that is replayed when its outcome is committed, and before it is
// given back, is sent again all the same.
func TestReplayBeforeTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r := &switchedReceiver{}
		r.on()
		d := New(&replaying{Store: b.store}, Config{})
		d.send = r.send
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx, ctx) }()
		e := b.endpoint("https://receiver.example/")
		b.sendTest(e.ID) // so that more than one may be in flight from now on
		<-time.After(time.Minute)
		sent := b.sendTest(e.ID)
		<-time.After(time.Minute)
		if n := len(r.seen()); n != 3 {
			t.Errorf("it was sent %d times", n-1)
		}
		if d := b.delivery(sent.ID); d.State != store.StateAcknowledged {
			t.Errorf("it is %s", d.State)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		b.store.Close()
	})
}

// A stop before the start is over is no error.
func TestStopBeforeTheStart(t *testing.T) {
	b := newBench(t)
	b.sendTest(b.endpoint("https://receiver.example/").ID)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := New(b.store, Config{}).Run(ctx, ctx); err != nil {
		t.Error(err)
	}
}

// replaying is a store in which somebody replays the second delivery that is
// about to be given back.
type replaying struct {
	store.Store
	released int
}

func (s *replaying) Release(id string) {
	if s.released++; s.released == 2 {
		s.Update(context.Background(), func(tx store.Tx) error {
			_, err := store.Replay(tx, "", testOrg, id)
			return err
		})
		<-time.After(time.Second) // the dispatcher looks for it meanwhile
	}
	s.Store.Release(id)
}
