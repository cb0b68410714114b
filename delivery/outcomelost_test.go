package delivery

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

// doubtful is a store that loses the answer of each commit of an outcome once, as a
// database does that is away for long.
type doubtful struct {
	store.Store
	lost map[string]bool
}

func (s *doubtful) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	err := s.Store.Update(ctx, scope, fn)
	if len(scope.Deliveries) == 0 || err != nil {
		return err
	}
	if id := scope.Deliveries[0]; len(s.lost) < 2 && !s.lost[id] {
		s.lost[id] = true
		return store.Unavailable(errors.New("it is unknown whether the commit succeeded"))
	}
	return nil
}

// An outcome whose commit succeeded, and was said to have failed, counts once.
func TestOutcomeIsRecordedOnce(t *testing.T) {
	for status, want := range map[int]store.DeliveryState{http.StatusOK: store.StateAcknowledged, http.StatusBadGateway: store.StateRetrying} {
		synctest.Test(t, func(t *testing.T) {
			env := newEnv(t)
			s := &doubtful{Store: env.store, lost: map[string]bool{}}
			d := New(s, Config{Schedule: []time.Duration{time.Minute, time.Minute}})
			attempts := 0
			d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
				attempts++
				a := store.Attempt{StartedAt: time.Now(), EndedAt: time.Now().Add(time.Millisecond), Status: status}
				if status != http.StatusOK {
					a.Reason = "no"
				}
				return a, "refused"
			}
			got := env.runUntilSettled(d)
			if got.State != want || got.Attempts != attempts || len(got.History) != attempts || len(s.lost) != 1 {
				t.Errorf("after %d attempts it is %s, with %d that count, and %d kept", attempts, got.State, got.Attempts, len(got.History))
			}
		})
	}
}
