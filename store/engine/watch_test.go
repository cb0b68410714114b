package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

// A commit that was refused counts until one succeeds that is no probe, or for a while if
// none is tried.
func TestFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Watch
		full := errors.New("full")
		commit := func(err error) error {
			c := store.Commit{Updates: 1, Err: err}
			w.Committed(c)
			w.Refused(c)
			return err
		}
		is := func(want error) {
			t.Helper()
			if got := w.Failing(); got != want {
				t.Errorf("it says %v, not %v", got, want)
			}
		}
		_ = w.Probing(func() error { return commit(full) })
		is(nil)
		_ = commit(full)
		is(full)
		_ = w.Probing(func() error { return commit(nil) })
		is(full)
		_ = commit(nil)
		is(nil)
		_ = commit(full)
		time.Sleep(failingFor - time.Nanosecond)
		is(full)
		_ = commit(full)
		time.Sleep(failingFor - time.Nanosecond)
		is(full)
		time.Sleep(time.Nanosecond)
		is(nil)
		if w.Refusal() != full {
			t.Error("it has forgotten why")
		}
	})
}
