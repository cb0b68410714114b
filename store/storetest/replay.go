package storetest

import (
	"slices"
	"time"

	"teamdata/store"
)

func replay(id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.Replay(tx, ada, acme, id)
		return err
	}
}

// testReplay replays deliveries in each state, an hour after they got into it.
func testReplay(s *subject) {
	endpoint := s.seed()
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
		s.try(keeper, s.clock.now(), 200) // so that nothing here disables the endpoint
		for _, status := range c.attempts {
			s.try(id, s.clock.now(), status)
		}
		before := s.delivery(id)
		s.clock.move(time.Second)
		added := s.newAudit(func() { s.update(replay(id)) })
		s.equal(c.what+": audit entries", len(actions(added)) == 1, c.replayed)
		if c.replayed {
			s.shows(c.what+": the audit entry", added, `"action":"delivery.replayed"`, `"actorId":"usr_ada"`, `"targetId":"`+id+`"`)
		}
		want := before
		if c.replayed {
			want.DueAt = s.clock.now()
		}
		if c.anew {
			want.State, want.Attempts, want.FirstAttemptAt, want.FinishedAt = store.StatePending, 0, time.Time{}, time.Time{}
		}
		s.equal(c.what+": replayed", s.delivery(id), want)
		s.equal(c.what+": attempts kept", len(want.History), len(c.attempts))
		s.equal(c.what+": due now", slices.Contains(s.claim(), id), true)
		s.equal(c.what+": in the waiting list", slices.Contains(s.listed(endpoint.Number, store.ListWaiting), id), true)

		for _, later := range []time.Duration{0, time.Minute} {
			s.clock.move(later)
			added = s.newAudit(func() { s.update(replay(id)) })
			s.equal(c.what+": audit entries of a second replay", added, "")
			s.equal(c.what+": replayed again", s.delivery(id), want)
		}
		s.refused(c.what+": replayed by another org", store.CodeNotFound, func(tx store.Tx) error {
			_, err := store.Replay(tx, ada, other, id)
			return err
		})
		s.try(id, s.clock.now(), 200)
	}
	s.refused("replaying nothing", store.CodeNotFound, replay("whd_none"))
}

// testReplayAtADisabledEndpoint: it is held, and goes out once the endpoint is
// enabled.
func testReplayAtADisabledEndpoint(s *subject) {
	s.seed()
	ids := s.sendTests("whe_1", 2)
	s.equal("disabled", s.failAll(ids[0]), true)
	s.update(replay(ids[0]))
	e, d := s.endpoint("whe_1"), s.delivery(ids[0])
	s.equal("state", d.StateAt(&e), store.StateHeld)
	s.equal("due", s.claim(), []string{})
	s.equal("is the endpoint still disabled", e.Disabled(), true)
	s.update(switchEndpoint(acme, "whe_1", true))
	s.equal("due once enabled", s.claim(), []string{ids[1], ids[0]})
}
