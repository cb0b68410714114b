package delivery

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
	"teamdata/store/rows/rowstest"
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

// An attempt was recorded since if there is one more, or another is the latest of as
// many as are kept.
func TestRecorded(t *testing.T) {
	history := func(attempts, latest int) (h []store.Attempt) {
		for i := range attempts {
			at := time.Unix(int64(latest-attempts+i+100), 0)
			h = append(h, store.Attempt{StartedAt: at, EndedAt: at})
		}
		return h
	}
	for _, row := range []struct {
		claimed, kept []store.Attempt
		want          bool
	}{
		{nil, nil, false}, {nil, history(1, 1), true}, {history(1, 1), history(1, 1), false}, {history(1, 1), history(2, 2), true},
		{history(30, 30), history(30, 30), false}, {history(30, 30), history(30, 31), true},
	} {
		tx := store.Tx{Tx: rowstest.NewModel(nil).Tx()}
		d := store.Delivery{ID: "whd_1", EventID: "evt_1", State: store.StateFailed, History: row.kept}
		if err := tx.AddEvent(store.Event{ID: "evt_1", Deliveries: []string{"whd_1"}}, []store.Delivery{d}); err != nil {
			t.Fatal(err)
		}
		if got, err := recorded(tx, &store.Delivery{ID: d.ID, History: row.claimed}); got != row.want || err != nil {
			t.Errorf("of %d attempts %d are kept: recorded is %t, %v", len(row.claimed), len(row.kept), got, err)
		}
	}
}
