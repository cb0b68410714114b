package boltstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
	"teamdata/store/engine"
)

// batch runs updates that share one commit: it keeps the writer busy until all
// of them wait, in the order given. It returns their errors.
func (f *fixture) batch(updates ...func(store.Tx) error) []error {
	f.Helper()
	release, busy := f.occupy()
	errs := make([]error, len(updates))
	var done sync.WaitGroup
	for i, update := range updates {
		done.Go(func() { errs[i] = f.Update(bg, store.All, update) })
		f.untilWaiting(i + 1)
	}
	release()
	done.Wait()
	must(f, <-busy)
	return errs
}

// occupy keeps the writer busy, without a write, until release is called.
func (f *fixture) occupy() (release func(), done <-chan error) {
	started, finish, end := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		end <- f.Update(bg, store.All, func(store.Tx) error {
			close(started)
			<-finish
			return nil
		})
	}()
	<-started
	return func() { close(finish) }, end
}

func (f *fixture) untilWaiting(n int) {
	f.Helper()
	until(f, fmt.Sprintf("%d updates wait", n), func() bool {
		return f.queue.Len() == n
	})
}

func TestUpdatesShareACommit(t *testing.T) {
	f := newFixture(t, Options{})
	before := f.commits()
	updates := make([]func(store.Tx) error, 100)
	for i := range updates {
		updates[i] = appendAudit(fmt.Sprint("usr_", i))
	}
	for _, err := range f.batch(updates...) {
		must(t, err)
	}
	if n := f.commits() - before; n != 1 {
		t.Errorf("%d commits", n)
	}
	f.close()
	wellKept(t, f.path)
}

func TestPatientUpdatesShareTheNextCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{})
		var updates sync.WaitGroup
		patient := func(user string) {
			updates.Go(func() {
				if err := f.Update(bg, store.Scope{All: true, Patient: true}, appendAudit(user)); err != nil {
					t.Error(err)
				}
			})
		}
		before, start := f.commits(), time.Now()
		patient("usr_1")
		patient("usr_2")
		synctest.Wait()
		if n := f.commits() - before; n != 0 {
			t.Errorf("%d commits of patient updates alone", n)
		}
		must(t, f.Update(bg, store.All, appendAudit("usr_3")))
		updates.Wait()
		if n, took := f.commits()-before, time.Since(start); n != 1 || took > 0 {
			t.Errorf("%d commits after %s", n, took)
		}
		patient("usr_4")
		updates.Wait()
		if n, took := f.commits()-before, time.Since(start); n != 2 || took != engine.MaxPatience {
			t.Errorf("%d commits after %s, when no other came", n, took)
		}
		patient("usr_5")
		synctest.Wait()
		f.close()
		updates.Wait()
		if took := time.Since(start); took != engine.MaxPatience {
			t.Errorf("closing waited: %s", took)
		}
		wellKept(t, f.path)
	})
}

func TestConcurrentUpdatesShareCommits(t *testing.T) {
	f := newFixture(t, Options{})
	before := f.commits()
	const writers, each = 32, 20
	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			for i := range each {
				if err := f.Update(bg, store.All, appendAudit(fmt.Sprintf("usr_%d_%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	n := f.commits() - before
	t.Logf("%d updates in %d commits", writers*each, n)
	if n > writers*each/4 {
		t.Error("hardly any commit was shared")
	}
}

func TestMoreThanABatch(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	release, busy := f.occupy()
	before := f.commits()
	const n = 2*engine.MaxGroup + 1
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			if err := f.Update(bg, store.All, appendAudit(fmt.Sprint("usr_", i))); err != nil {
				t.Error(err)
			}
		})
	}
	f.untilWaiting(n)
	release()
	done.Wait()
	must(t, <-busy)
	if commits := f.commits() - before; commits != 3 {
		t.Errorf("%d updates took %d commits", n, commits)
	}
}

func TestNoWriteNoCommit(t *testing.T) {
	f := newFixture(t, Options{})
	before, content := f.commits(), readFile(t, f.path)
	failure := errors.New("on purpose")
	for i, err := range f.batch(
		func(tx store.Tx) error { _, err := tx.Org(testOrg); return err },
		func(tx store.Tx) error { return errors.Join(appendAudit("usr_1")(tx), failure) },
	) {
		if want := []error{nil, failure}[i]; !errors.Is(err, want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if f.commits() != before || !slices.Equal(content, readFile(t, f.path)) {
		t.Error("something was written")
	}
}

func TestOnDueComesInCommitOrder(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	var notified []uint64
	f.OnDue(func(endpoint uint64, due time.Time) { notified = append(notified, endpoint) })
	updates := make([]func(store.Tx) error, 50)
	var want []uint64
	for i := range updates {
		updates[i] = func(tx store.Tx) error {
			id := tx.NewID(store.PrefixEvent)
			return tx.AddEvent(store.Event{ID: id}, []store.Delivery{{
				ID: store.FirstDelivery(id), EventID: id, EndpointNumber: uint64(i), State: store.StatePending, DueAt: tx.Now(),
			}})
		}
		want = append(want, uint64(i))
	}
	failing := updates[7]
	updates[7] = func(tx store.Tx) error { return errors.Join(failing(tx), errors.New("on purpose")) }
	want = slices.Delete(want, 7, 8)
	f.batch(updates...)
	if !slices.Equal(notified, want) {
		t.Errorf("notified of %v", notified)
	}
	// The writer notifies before it wakes the caller, so notified needs no lock.
	must(t, f.Update(bg, store.All, updates[3]))
	if len(notified) != len(want)+1 {
		t.Error("the caller went on before OnDue was notified")
	}
}

func TestCancelledBeforeItsTurn(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	ctx, cancel := context.WithCancel(bg)
	release, busy := f.occupy()
	result := make(chan error, 1)
	go func() { result <- f.Update(ctx, store.All, func(store.Tx) error { panic("runs") }) }()
	f.untilWaiting(1)
	cancel()
	release()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("Update: %v", err)
	}
	must(t, <-busy)
	if err := f.Update(ctx, store.All, func(store.Tx) error { panic("runs") }); !errors.Is(err, context.Canceled) {
		t.Errorf("Update: %v", err)
	}
	if err := f.View(ctx, func(store.Tx) error { panic("runs") }); !errors.Is(err, context.Canceled) {
		t.Errorf("View: %v", err)
	}
}
