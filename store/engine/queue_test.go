package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

var bg = context.Background()

// started is a Queue whose writer runs each group's functions, and the sizes of the
// groups, to be read once it is closed.
func started() (q *Queue, groups *[]int) {
	q, groups = NewQueue(), new([]int)
	go q.Run(func(group []*Update) {
		*groups = append(*groups, len(group))
		for _, u := range group {
			u.Err = Recover(u.Fn, store.Tx{})
		}
	})
	return q, groups
}

// Each Update runs once, and no group is empty.
func TestGroups(t *testing.T) {
	q, groups := started()
	const callers, each = 32, 200
	ran := 0 // the writer's
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				if err := q.Update(bg, store.Scope{}, func(store.Tx) error { ran++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	q.Close()
	sum := 0
	for _, n := range *groups {
		if sum += n; n == 0 {
			t.Fatal("an empty group")
		}
	}
	if ran != callers*each || sum != ran {
		t.Errorf("%d ran, %d in groups", ran, sum)
	}
}

// A patient Update waits for another, and goes alone if none comes.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, groups := started()
		nothing := func(store.Tx) error { return nil }
		patient := func() { q.Update(bg, store.Scope{Patient: true}, nothing) }
		start := time.Now()
		go patient()
		synctest.Wait()
		q.Update(bg, store.Scope{}, nothing)
		if took := time.Since(start); took > 0 {
			t.Errorf("two took %s", took)
		}
		patient()
		if took := time.Since(start); took != MaxPatience {
			t.Errorf("a third took %s", took)
		}
		q.Close()
		if got := *groups; len(got) != 2 || got[0] != 2 || got[1] != 1 {
			t.Errorf("groups of %d", got)
		}
	})
}

// What was waiting when Close was called commits, what comes later is refused.
func TestCloseFinishesWhatWaits(t *testing.T) {
	q, groups := started()
	taken, goOn := make(chan struct{}), make(chan struct{})
	go q.Update(bg, store.Scope{}, func(store.Tx) error { close(taken); <-goOn; return nil })
	<-taken
	const n = MaxGroup + 10
	var waiting sync.WaitGroup
	for range n {
		waiting.Go(func() {
			if err := q.Update(bg, store.Scope{}, func(store.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	until(func() bool { return q.Len() == n })
	closed := make(chan struct{})
	go func() { q.Close(); close(closed) }()
	until(func() bool { q.mu.Lock(); defer q.mu.Unlock(); return q.closed })
	if err := q.Update(bg, store.Scope{}, func(store.Tx) error { panic("runs") }); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("an Update after Close: %v", err)
	}
	close(goOn)
	waiting.Wait()
	<-closed
	q.Close()
	if got := *groups; len(got) != 3 || got[1] != MaxGroup {
		t.Errorf("groups of %d", got)
	}
}

func until(holds func() bool) {
	for !holds() {
		runtime.Gosched()
	}
}
