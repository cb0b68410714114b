package app

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
	"teamdata/store/boltstore"
)

// What is too old at the start is dropped within a minute, and what gets too old
// later, in the next sweep; the metrics hear of it.
func TestSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var commit atomic.Int64 // how long one takes
		s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true, BeforeCommit: func() error {
			time.Sleep(time.Duration(commit.Load()))
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var dropped atomic.Int64 // mails
		a := &App{store: s, settings: Settings{DeliveryRetention: time.Hour, HeldRetention: time.Hour}}
		a.sweeps.dropped = func(kind string, n int) {
			if kind == "mail" {
				dropped.Add(int64(n))
			}
		}
		mail := func(age time.Duration) {
			err := s.Update(t.Context(), store.All, func(tx store.Tx) error {
				return tx.PutMail(store.Mail{ID: tx.NewID(store.PrefixMail), CreatedAt: time.Now().Add(-age)})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		check := func(what string, mails int64, wantRunning time.Duration, wantDone time.Time) {
			t.Helper()
			synctest.Wait()
			if running, done := a.sweeps.state(); dropped.Load() != mails || running != wantRunning || !done.Equal(wantDone) {
				t.Errorf("%s: %d dropped, running for %s, done at %s; want %d, %s, %s", what, dropped.Load(), running, done, mails, wantRunning, wantDone)
			}
		}
		mail(73 * time.Hour)
		mail(72*time.Hour - 5*time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); a.sweepRegularly(ctx) }()

		start := time.Now()
		check("at the start", 0, 0, time.Time{})
		commit.Store(int64(20 * time.Second))
		time.Sleep(45 * time.Second)
		check("45 s after the start", 0, 15*time.Second, time.Time{})
		time.Sleep(30 * time.Second)
		commit.Store(0)
		check("75 s after the start", 1, 0, start.Add(51*time.Second))
		time.Sleep(10 * time.Minute)
		check("10 minutes later", 2, 0, start.Add(10*time.Minute+51*time.Second))
		stop()
		<-ended
	})
}
