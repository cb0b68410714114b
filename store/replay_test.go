package store_test

import (
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// TestReplay replays deliveries in each state, an hour after they got into it.
func TestReplay(t *testing.T) { onBoth(t, testReplay) }

func testReplay(s *subject) {
	endpoint := s.Seed()
	s.sendTests("whe_1", 1) // an id that nothing below touches
	for _, c := range []struct {
		what     string
		attempts []int // their statuses
		anew     bool  // the replay begins anew
		replayed bool  // the replay changes something
	}{
		{"acknowledged", []int{500, 200}, true, true},
		{"failed", []int{500, 500, 500, 500, 500, 500}, true, true},
		{"retrying", []int{500, 500, 500}, false, true},
		{"pending", nil, false, false},
	} {
		keeper, id := s.sendTests("whe_1", 1)[0], s.sendTests("whe_1", 1)[0]
		s.try(keeper, s.Clock.Now(), 200) // so that nothing here disables the endpoint
		for _, status := range c.attempts {
			s.try(id, s.Clock.Now(), status)
		}
		before := s.delivery(id)
		s.Clock.Move(time.Second)
		added := s.newAudit(func() { s.Write(replay(id)) })
		s.Equal(c.what+": audit entries", len(actions(added)) == 1, c.replayed)
		if c.replayed {
			s.shows(c.what+": the audit entry", added, `"action":"delivery.replayed"`, `"actorId":"usr_ada"`, `"targetId":"`+id+`"`)
		}
		want := before
		if c.replayed {
			want.DueAt = s.Clock.Now()
		}
		if c.anew {
			want.State, want.Attempts, want.FirstAttemptAt, want.FinishedAt = store.StatePending, 0, time.Time{}, time.Time{}
		}
		s.Equal(c.what+": replayed", s.delivery(id), want)
		s.Equal(c.what+": attempts kept", len(want.History), len(c.attempts))
		s.Equal(c.what+": due now", slices.Contains(s.Claimable(), id), true)
		s.Equal(c.what+": in the waiting list", slices.Contains(s.Listed(endpoint.Number, store.ListWaiting), id), true)

		for _, later := range []time.Duration{0, time.Minute} {
			s.Clock.Move(later)
			added = s.newAudit(func() { s.Write(replay(id)) })
			s.Equal(c.what+": audit entries of a second replay", added, "")
			s.Equal(c.what+": replayed again", s.delivery(id), want)
		}
		s.refused(c.what+": replayed by another org", store.CodeNotFound, func(tx store.Tx) error {
			_, err := store.Replay(tx, ada, other, id)
			return err
		})
		s.try(id, s.Clock.Now(), 200)
	}
	s.refused("replaying nothing", store.CodeNotFound, replay("whd_none"))
}

// TestReplayAtADisabledEndpoint: it is held, and goes out once the endpoint is
// enabled.
func TestReplayAtADisabledEndpoint(t *testing.T) { onBoth(t, testReplayAtADisabledEndpoint) }

func testReplayAtADisabledEndpoint(s *subject) {
	s.Seed()
	ids := s.sendTests("whe_1", 2)
	s.Equal("disabled", s.failAll(ids[0]), true)
	s.Write(replay(ids[0]))
	e, d := s.Endpoint("whe_1"), s.delivery(ids[0])
	s.Equal("state", d.StateAt(&e), store.StateHeld)
	s.Equal("due", s.Claimable(), []string{})
	s.Equal("is the endpoint still disabled", e.Disabled(), true)
	s.Write(switchEndpoint(acme, "whe_1", true))
	s.Equal("due once enabled", s.Claimable(), []string{ids[1], ids[0]})
}

func replay(id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.Replay(tx, ada, acme, id)
		return err
	}
}
