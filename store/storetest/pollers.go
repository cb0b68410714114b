package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// testPollersMissNothing has pollers follow a list while writers append to it,
// some items at a time, on a clock that jumps about. Some Updates fail.
func testPollersMissNothing(s *Subject) {
	const writers, pollers, updates = 8, 4, 40
	var writing, polling sync.WaitGroup
	var done atomic.Bool
	var appended atomic.Int64
	s.Seed()
	for w := range writers {
		writing.Go(func() {
			for i := range updates {
				s.Clock.Move(time.Duration(i%7-3) * time.Millisecond)
				appended.Add(s.appendSome(fmt.Sprintf("%d-%d", w, i), i%3+1, i%5 == 4))
			}
		})
	}
	polled := make([]string, pollers)
	for p := range pollers {
		polling.Go(func() { polled[p] = s.poll(&done) })
	}
	writing.Wait()
	done.Store(true)
	polling.Wait()
	whole := s.AuditLog(acme)
	s.Equal("entries", len(actions(whole)), appended.Load())
	for _, saw := range polled {
		s.Equal("what a poller saw is the list", saw == whole, true)
	}
}

// appendSome appends n entries in one Update, and returns how many are there.
func (s *Subject) appendSome(action string, n int, fail bool) int64 {
	err := s.Update(context.Background(), store.All, func(tx store.Tx) error {
		for range n {
			if err := addAudit(tx, action); err != nil {
				return err
			}
		}
		if fail {
			return errFailing
		}
		return nil
	})
	switch {
	case fail && errors.Is(err, errFailing):
		return 0
	case fail || err != nil:
		s.Errorf("appending (to fail: %v): %v", fail, err)
	}
	return int64(n)
}

// poll follows the list from its start until nothing comes after done was set.
func (s *Subject) poll(done *atomic.Bool) string {
	var saw []string
	for after := (store.Cursor{}); ; {
		last := done.Load()
		var page store.Page
		err := s.View(context.Background(), func(tx store.Tx) (err error) {
			page, err = tx.AuditPage(acme, after, 7, nil)
			return err
		})
		switch {
		case err != nil, page.Count > 0 && page.Last.Compare(after) <= 0:
			s.Errorf("polling: from %v to %v: %v", after, page.Last, err)
			return ""
		case page.Count > 0:
			saw, after = append(saw, string(page.Items)), page.Last
		case last:
			return strings.Join(saw, ",")
		default:
			runtime.Gosched()
		}
	}
}
