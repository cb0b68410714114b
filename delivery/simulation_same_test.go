package delivery_test

import (
	"fmt"
	"slices"
	"time"

	"teamdata/store"
)

// same compares a delivery as it is kept with where it must stand.
func (w *world) same(a *act, p *parcel, d *store.Delivery) {
	got, want := place(d.State, d.Attempts, d.DueAt, d.FinishedAt), place(p.state, p.attempts, p.due, p.finished)
	if got != want {
		w.breaksLocked(schedule, "after %s, %s is %s; it must be %s", a.who, p.name, got, want)
	}
	if !d.FirstAttemptAt.Equal(p.first) {
		w.breaksLocked(disabling, "after %s, the first attempt of %s was at %s; it was at %s", a.who, p.name, d.FirstAttemptAt, p.first)
	}
	if n := min(p.made, store.MaxHistory); len(d.History) != n {
		w.breaksLocked(schedule, "%d attempts are kept of %s, of which %d were made", len(d.History), p.name, p.made)
	}
}

func place(state store.DeliveryState, attempts int, due, finished time.Time) string {
	if state == store.StatePending || state == store.StateRetrying {
		return fmt.Sprintf("%s after %d attempts, due %s", state, attempts, due.UTC().Format(time.StampMilli))
	}
	return fmt.Sprintf("%s after %d attempts, at %s", state, attempts, finished.UTC().Format(time.StampMilli))
}

// sameEndpoint compares an endpoint as it is kept with how it must be.
func (w *world) sameEndpoint(p promise, when string, e *endpoint, is *store.Endpoint) {
	k := e.keys[len(e.keys)-1]
	if is.Disabled() != (e.disabledBy != nil) || is.Secret != k.secret || is.OldSecret != k.old || is.URL != e.url() {
		w.breaksLocked(p, "after %s, %s is disabled: %t, with the secrets %s and %q, at %s", when, e.name, is.Disabled(), is.Secret, is.OldSecret, is.URL)
	}
}

func sameSet[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}
