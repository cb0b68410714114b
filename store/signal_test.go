package store_test

import (
	"testing"
	"time"

	"teamdata/store"
)

// signalsTo counts the signals that came to an endpoint, by type.
func (s *subject) signalsTo(number uint64) map[string]int {
	count := map[string]int{}
	s.Read(func(tx store.Tx) error {
		all, _, err := tx.DeliveryPage(number, store.ListWaiting, store.Cursor{}, 1000)
		for _, d := range all {
			if store.IsSignal(d.EventType) {
				count[d.EventType]++
			}
		}
		return err
	})
	return count
}

// TestSoleReceiverDisabled: what only the disabled endpoint would be told is told to nobody, and
// another one is told.
func TestSoleReceiverDisabled(t *testing.T) { onBoth(t, testSoleReceiverDisabled) }

func testSoleReceiverDisabled(s *subject) {
	e := s.Seed()
	s.Write(selecting("*", "teamdata.*"))
	s.Write(switchEndpoint(acme, "whe_1", false))
	s.Equal("of itself", s.signalsTo(e.Number), map[string]int{})
	s.Write(switchEndpoint(acme, "whe_1", true))
	other := newEndpoint(acme, "whe_2")
	other.Events = []string{"teamdata.endpoint.*"}
	s.Write(func(tx store.Tx) (err error) { other, err = store.ImportEndpoint(tx, other); return err })
	s.Write(switchEndpoint(acme, "whe_1", false))
	s.Equal("of another", s.signalsTo(other.Number), map[string]int{store.EventEndpointDisabled: 1})
}

// TestOutcomesOutOfOrder: an outcome that is written late counts by its own time.
func TestOutcomesOutOfOrder(t *testing.T) { onBoth(t, testOutcomesOutOfOrder) }

func testOutcomesOutOfOrder(s *subject) {
	e := s.Seed()
	s.Write(selecting("member.added", "teamdata.endpoint.recovered"))
	ids, at := s.sendTests("whe_1", 6), s.Clock.Now()
	s.try(ids[0], at.Add(time.Hour), 200)
	s.try(ids[1], at, 500) // was before that, and is no outage
	s.try(ids[2], at.Add(2*time.Hour), 200)
	s.Equal("after an old failure", s.signalsTo(e.Number), map[string]int{})
	s.try(ids[3], at.Add(3*time.Hour), 500)
	s.try(ids[4], at.Add(150*time.Minute), 200) // was before the failure, and ends no outage
	s.try(ids[5], at.Add(4*time.Hour), 200)
	s.Equal("after an hour", s.signalsTo(e.Number), map[string]int{store.EventEndpointRecovered: 1})
	var last time.Time
	s.Read(func(tx store.Tx) (err error) { last, err = tx.LastAcknowledged(e.Number); return err })
	s.Equal("last acknowledged", last, at.Add(4*time.Hour+time.Second))
}

// TestOldKeys: of a key by a version that told nothing, what lies behind is not told, and what
// lies ahead is.
func TestOldKeys(t *testing.T) { onBoth(t, testOldKeys) }

func testOldKeys(s *subject) {
	e := s.Seed()
	s.Write(selecting("teamdata.apiKey.*"))
	now := s.Clock.Now()
	s.Write(func(tx store.Tx) error {
		for id, ends := range map[string]time.Duration{"key_gone": -time.Hour, "key_soon": 5 * day, "key_never": 0} {
			k := store.APIKey{ID: id, OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada, CreatedAt: now}
			if ends != 0 {
				k.ExpiresAt = now.Add(ends)
			}
			if err := tx.PutAPIKey(k); err != nil {
				return err
			}
		}
		return nil
	})
	s.sweep(100 * day)
	s.Equal("at first", s.signalsTo(e.Number), map[string]int{})
	s.Write(func(tx store.Tx) error { return store.RevokeKey(tx, ada, acme, "key_gone") })
	s.Equal("of one that had ended", s.signalsTo(e.Number), map[string]int{})
	s.Clock.Move(4 * day)
	s.sweep(100 * day)
	s.Clock.Move(day)
	s.sweep(100 * day)
	s.Equal("what lay ahead", s.signalsTo(e.Number), map[string]int{store.EventAPIKeyExpiring: 1, store.EventAPIKeyEnded: 1})
}

// TestTypesNamedLikeSignals: no new type of the operator's own has such a name. One that is
// older comes from a file and stays, and is none.
func TestTypesNamedLikeSignals(t *testing.T) { onBoth(t, testTypesNamedLikeSignals) }

func testTypesNamedLikeSignals(s *subject) {
	s.Seed()
	var refused error
	s.Write(func(tx store.Tx) error {
		_, _, refused = store.RegisterEventType(tx, store.EventType{Name: "teamdata.own"})
		_, _, err := store.ImportEventType(tx, store.EventType{Name: "teamdata.old"})
		return err
	})
	s.Code("a new one", refused, store.CodeBadRequest)
	s.Write(register(store.EventType{Name: "teamdata.old", Description: "changed"}))
	s.Write(selecting("*"))
	s.Equal("what * sends", s.emitted("teamdata.old", store.EventAPIKeyEnded), []string{"teamdata.old"})
}
