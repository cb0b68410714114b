package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// testOutageOnce: what fails at an endpoint that is disabled already disables it
// no second time.
func testOutageOnce(s *subject) {
	s.seed()
	s.update(addPeople)
	ids := s.sendTests("whe_1", 2)
	for _, id := range ids {
		s.try(id, s.clock.now(), 500)
	}
	s.equal("the first failure disables", s.failAll(ids[0]), true)
	at, mails := s.endpoint("whe_1").DisabledAt, len(s.mails())
	s.clock.move(time.Hour)
	added := s.newAudit(func() { s.equal("the second disables again", s.failAll(ids[1]), false) })
	s.equal("audit entries of the second", added, "")
	s.equal("mails", len(s.mails()), mails)
	s.equal("disabled at", s.endpoint("whe_1").DisabledAt, at)
	s.equal("the second delivery", s.delivery(ids[1]).State, store.StateFailed)
}

// testOutageAfterReplay: the rule counts from the first attempt since the
// replay.
func testOutageAfterReplay(s *subject) {
	s.seed()
	ids := s.sendTests("whe_1", 3)
	s.try(ids[0], s.clock.now(), 500)
	s.clock.move(time.Minute)
	s.try(ids[1], s.clock.now(), 200)
	s.equal("disabled, with one acknowledged", s.failAll(ids[0]), false)

	s.clock.move(time.Hour)
	s.update(replay(ids[0]))
	s.try(ids[0], s.clock.now(), 500)
	s.clock.move(time.Minute)
	s.try(ids[2], s.clock.now(), 200)
	s.equal("disabled, with one acknowledged since the replay", s.failAll(ids[0]), false)

	s.clock.move(time.Hour)
	s.update(replay(ids[0]))
	s.equal("disabled, with none acknowledged since the replay", s.failAll(ids[0]), true)
	s.equal("attempts since the replay", s.delivery(ids[0]).Attempts, 6)
	s.equal("attempts kept", len(s.delivery(ids[0]).History), 18)
}

// testLastAcknowledged records outcomes in another order than they came in.
func testLastAcknowledged(s *subject) {
	endpoint := s.seed()
	ids, now := s.sendTests("whe_1", 4), s.clock.now()
	last := func(what string, want time.Time) {
		s.Helper()
		s.view(func(tx store.Tx) error {
			at, err := tx.LastAcknowledged(endpoint.Number)
			s.equal("last acknowledged "+what, at, want)
			return err
		})
	}
	last("at first", time.Time{})
	s.try(ids[0], now, 200)
	last("once", now.Add(time.Second))
	s.try(ids[1], now.Add(time.Hour), 200)
	s.try(ids[2], now.Add(time.Minute), 200)
	s.try(ids[3], now.Add(2*time.Hour), 500)
	last("of three", now.Add(time.Hour+time.Second))
	s.reopen()
	last("of three, reopened", now.Add(time.Hour+time.Second))
}

func switchEndpoint(org, id string, enabled bool) func(store.Tx) error {
	return func(tx store.Tx) error {
		if enabled {
			return store.EnableEndpoint(tx, ada, org, id)
		}
		return store.DisableEndpoint(tx, ada, org, id)
	}
}

// testDisabledEndpoint: what is sent to it is held, and goes out in order once
// it is enabled.
func testDisabledEndpoint(s *subject) {
	var told notices
	told.listen(s)
	endpoint := s.seed()
	ids := s.sendTests("whe_1", 3)
	start := s.clock.now()
	s.try(ids[0], start, 200)
	s.try(ids[2], start, 500)
	s.clock.move(time.Millisecond)
	at := s.clock.now()
	added := s.newAudit(func() { s.update(switchEndpoint(acme, "whe_1", false)) })
	s.shows("the audit entry", added, `"action":"endpoint.disabled"`, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.equal("disabled at", s.endpoint("whe_1").DisabledAt, at)

	s.clock.move(time.Hour)
	s.update(upload)
	s.equal("due while disabled", s.claim(), []string{})
	s.equal("each due while disabled", s.eachDue(), map[uint64]time.Time{})
	s.statesAt(ids, store.StateAcknowledged, store.StateHeld, store.StateHeld)
	waiting := s.listed(endpoint.Number, store.ListWaiting)
	s.equal("deliveries in the waiting list", len(waiting), 3)

	added = s.newAudit(func() { s.update(switchEndpoint(acme, "whe_1", false)) })
	s.equal("audit entries when it is disabled again", added, "")
	s.equal("disabled at, still", s.endpoint("whe_1").DisabledAt, at)

	told.take()
	added = s.newAudit(func() { s.update(switchEndpoint(acme, "whe_1", true)) })
	s.shows("the audit entry", added, `"action":"endpoint.enabled"`, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.equal("told when it is enabled", told.take(), []notice{{endpoint.Number, start}})
	s.equal("due once enabled, in order", s.claim(), []string{ids[1], ids[2], waiting[2]})
	s.statesAt(ids, store.StateAcknowledged, store.StatePending, store.StateRetrying)
	added = s.newAudit(func() { s.update(switchEndpoint(acme, "whe_1", true)) })
	s.equal("audit entries when it is enabled again", added, "")
	for _, enabled := range []bool{true, false} {
		s.refused(fmt.Sprintf("switching another org's endpoint, %v", enabled), store.CodeNotFound, switchEndpoint(other, "whe_1", enabled))
		s.refused(fmt.Sprintf("switching no endpoint, %v", enabled), store.CodeNotFound, switchEndpoint(acme, "whe_none", enabled))
	}
}

// statesAt holds deliveries to how people see them.
func (s *subject) statesAt(ids []string, want ...store.DeliveryState) {
	s.Helper()
	e := s.endpoint("whe_1")
	for i, id := range ids {
		d := s.delivery(id)
		s.equal(fmt.Sprintf("state of delivery %d", i), d.StateAt(&e), want[i])
	}
}
