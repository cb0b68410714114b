package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
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
		kit.Must(t, err)
		defer s.Close()
		var dropped atomic.Int64 // mails
		a := &App{store: s, data: file(""), settings: Settings{DeliveryRetention: time.Hour, HeldRetention: time.Hour}}
		a.sweeps.dropped = func(kind string, n int) {
			if kind == "mail" {
				dropped.Add(int64(n))
			}
		}
		mail := func(age time.Duration) {
			err := s.Update(t.Context(), store.All, func(tx store.Tx) error {
				return tx.PutMail(store.Mail{ID: tx.NewID(store.PrefixMail), CreatedAt: time.Now().Add(-age)})
			})
			kit.Must(t, err)
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
		go func() { defer close(ended); a.runJobs(ctx, jobGroup{jobs: a.sweepJobs()}) }()

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

// What other nodes leave of an org that they deleted is dropped within 5 seconds.
func TestSweepsOfOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
		kit.Must(t, err)
		defer s.Close()
		var dropped atomic.Int64
		a := &App{store: s, data: database("postgres://other.example/x"), settings: Settings{DeliveryRetention: time.Hour, HeldRetention: time.Hour}}
		a.sweeps.waker = make(waker, 1)
		a.sweeps.dropped = func(_ string, n int) { dropped.Add(int64(n)) }
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait() // for what stop ends
		defer stop()
		go a.runJobs(ctx, jobGroup{jobs: a.sweepJobs()})
		time.Sleep(time.Second)
		err = s.Update(t.Context(), store.All, func(tx store.Tx) error {
			_, err := store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme"})
			return errors.Join(err, store.DeleteOrg(tx, "org_acme"))
		})
		kit.Must(t, err)
		for pause, want := range []bool{false, true} {
			time.Sleep([]time.Duration{4*time.Second - 1, 1}[pause])
			synctest.Wait()
			if got := dropped.Load() > 0; got != want {
				t.Errorf("4 seconds after it was deleted, or just before: dropped is %t", got)
			}
		}
	})
}

// What serve does without any flags, in figures.
func TestDefaultFigures(t *testing.T) {
	d := Defaults()
	got := fmt.Sprint(d.MaxConns, d.MaxConnsPerClient, d.KeyRate, d.ClientRate, d.RetrySchedule, d.AttemptTimeout,
		d.DeliveryRetention, d.HeldRetention, d.MailRetrySchedule, d.BackupEvery, d.BackupKeep)
	const want = "10000 256 100 600 [1m0s 5m0s 25m0s 2h5m0s 10h25m0s] 15s 720h0m0s 2160h0m0s [1m0s 5m0s 25m0s 2h0m0s] 24h0m0s 7"
	if got != want {
		t.Errorf("the defaults are %s, not %s", got, want)
	}
}
