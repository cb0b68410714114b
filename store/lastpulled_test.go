package store_test

import (
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// TestLastPulled: who pulls is written every 10 seconds at most, also by several.
func TestLastPulled(t *testing.T) { onBoth(t, testLastPulled) }

func testLastPulled(s *subject) {
	s.Seed()
	c, second := s.newConsumer("whe_p"), s.newConsumer("whe_q")
	second.endpoint = c.endpoint
	last := func() (p store.Pulled) {
		s.Read(func(tx store.Tx) (err error) {
			p, err = tx.LastPulled(c.endpoint.Number)
			return err
		})
		return p
	}
	s.Equal("before any", last().At, time.Time{})
	began := s.Clock.Now()
	c.pull(1)
	s.Equal("the first", []any{last().At, last().KeyID}, []any{began, c.key.ID})
	s.Clock.Move(10*time.Second - time.Millisecond)
	second.pull(1)
	s.Equal("soon after", last().At, began)
	s.Clock.Move(time.Millisecond)
	second.pull(1)
	s.Equal("after 10 s", []any{last().At, last().KeyID}, []any{began.Add(10 * time.Second), second.key.ID})
	s.Clock.Move(-time.Hour)
	c.pull(1)
	s.Equal("after the clock was set back", last().At, s.Clock.Now())
}

// TestNotPulled: owners and admins are mailed when the oldest delivery has waited for 13
// hours, once until something is acknowledged.
func TestNotPulled(t *testing.T) { onBoth(t, testNotPulled) }

func testNotPulled(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleAdmin, Email: "bob@example.com"})
	})
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: eve, Role: store.RoleViewer, Email: "eve@example.com"})
	})
	seen := map[string]bool{} // those that nobody sends are dropped after a while
	mails := func(what string, want int) (latest store.Mail) {
		s.Helper()
		s.sweep(day)
		for _, m := range s.Mails() {
			if m.Template == store.MailNotPulled {
				latest, seen[m.ID] = m, true
			}
		}
		s.Equal(what, len(seen), want)
		return latest
	}
	ids := s.sendTests("whe_p", 2)
	sent := s.Clock.Now()
	c.pull(1)
	s.Clock.Move(13*time.Hour - time.Millisecond)
	mails("just before", 0)
	s.Clock.Move(time.Millisecond)
	m := mails("after 13 hours", 1)
	s.Equal("to", m.To, "bob@example.com")
	s.Equal("values", m.Values, map[string]string{
		"orgName": acme, "endpointId": "whe_p", "endpointName": "whe_p",
		"waitingSince": store.FormatTime(sent), "pulledAt": store.FormatTime(sent),
	})
	s.Clock.Move(100 * time.Hour)
	mails("once", 1)
	c.pull(2)
	s.Clock.Move(time.Hour)
	mails("a pull is not enough", 1)
	s.Code("acknowledging one", c.ack(ids[0]), "")
	mails("the other one waits still", 2)
	s.Clock.Move(time.Millisecond)
	s.Code("acknowledging both", c.ack(ids[1]), "")
	s.sendTests("whe_p", 1)
	s.Write(switchEndpoint(acme, "whe_p", false))
	s.Clock.Move(14 * time.Hour)
	mails("not of a disabled one", 2)
	s.Write(switchEndpoint(acme, "whe_p", true))
	mails("enabled", 3)
}

// TestRetentionOfPulled: what nobody fetches is kept for its time after it was made, and what
// was given back or replayed for as long after that.
func TestRetentionOfPulled(t *testing.T) { onBoth(t, testRetentionOfPulled) }

func testRetentionOfPulled(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 4)
	c.pull(3)
	s.Code("acknowledging", c.ack(ids[2]), "")
	s.Clock.Move(5 * time.Second)
	later := time.Hour
	s.Code("giving back", c.nack(&later, c.leases(ids[0])...), "")
	s.Clock.Move(10*day - 5*time.Second)
	s.sweepHeld(10 * day)
	s.Equal("after exactly its time", s.Listed(c.endpoint.Number, store.ListWaiting), []string{ids[1], ids[3], ids[0]})
	s.Write(replay(ids[2]))
	s.Clock.Move(time.Millisecond)
	s.Equal("leased", c.pull(1), ids[1:2])
	s.sweepHeld(10 * day)
	for i, want := range []bool{true, true, true, false} {
		s.Equal(fmt.Sprint("is there delivery ", i), s.isThere(ids[i]), want)
	}
	s.Clock.Move(2 * time.Hour)
	s.sweepHeld(10 * day)
	s.Equal("in the end", s.Listed(c.endpoint.Number, store.ListWaiting), ids[2:3])
	s.Equal("a finished one waits to be pulled again", c.pull(9), ids[2:3])
}

// TestKeysToPull: a key names endpoints that are pulled, if it may do nothing else, and loses
// those that are removed.
func TestKeysToPull(t *testing.T) { onBoth(t, testKeysToPull) }

func testKeysToPull(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	s.newConsumer("whe_q")
	key := func(id string, scopes store.KeyScope, endpoints ...string) func(store.Tx) error {
		return func(tx store.Tx) error {
			return second(store.ImportKey(tx, store.APIKey{ID: id, OrgID: acme, Scopes: scopes, CreatedBy: ada, Endpoints: endpoints}))
		}
	}
	for what, rule := range map[string]func(store.Tx) error{
		"another scope":               key("key_x", store.ScopeReceive|store.ScopeRead, "whe_p"),
		"the other scope":             key("key_x", store.ScopeWrite, "whe_p"),
		"an endpoint that is sent to": key("key_x", store.ScopeReceive, "whe_1"),
		"an unknown endpoint":         key("key_x", store.ScopeReceive, "whe_p", "whe_none"),
		"one twice":                   key("key_x", store.ScopeReceive, "whe_p", "whe_p"),
	} {
		s.refused("a key with "+what, store.CodeBadRequest, rule)
	}
	s.Write(key("key_both", store.ScopeReceive, "whe_p", "whe_q"))
	s.Write(key("key_one", store.ScopeReceive, "whe_p"))
	s.Write(key("key_wide", store.ScopeReceive|store.ScopeRead))
	removed := s.newAudit(func() {
		s.Code("removing", c.inOrg(func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, acme, "whe_p") }), "")
	})
	s.Equal("audit entries", actions(removed), []string{"apiKey.revoked", "endpoint.removed"})
	s.Read(func(tx store.Tx) error {
		both, err := tx.APIKey("key_both")
		one, errOne := tx.APIKey("key_one")
		wide, errWide := tx.APIKey("key_wide")
		s.Equal("endpoints", [][]string{both.Endpoints, one.Endpoints, wide.Endpoints}, [][]string{{"whe_q"}, {"whe_p"}, nil})
		s.Equal("revoked", []bool{both.RevokedAt.IsZero(), one.RevokedAt.IsZero(), wide.RevokedAt.IsZero()}, []bool{true, false, true})
		s.Equal("may pull", []bool{both.MayPull("whe_q"), both.MayPull("whe_p"), one.MayPull("whe_q"), wide.MayPull("whe_q")}, []bool{true, false, false, true})
		return cmpOr(err, errOne, errWide)
	})
	s.Write(func(tx store.Tx) error {
		return second(store.ImportKey(tx, store.APIKey{ID: "key_old", OrgID: acme, Scopes: store.ScopeReceive, CreatedBy: ada, Endpoints: []string{"whe_p"}, RevokedAt: tx.Now()}))
	})
}

// TestPulledEndpointRemoved: nothing is handed out any more, and nothing is left of it, also
// if one of the other kind is made under its id.
func TestPulledEndpointRemoved(t *testing.T) { onBoth(t, testPulledEndpointRemoved) }

func testPulledEndpointRemoved(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 3)
	c.pull(2)
	s.Code("acknowledging", c.ack(ids[0]), "")
	s.Write(removeEndpoint(acme, "whe_p"))
	s.Write(createEndpoint(newEndpoint(acme, "whe_p")))
	for what, want := range map[string]store.Code{"whe_p": store.CodeConflict, "whe_gone": store.CodeNotFound} {
		s.refused("a pull", want, func(tx store.Tx) error {
			return second(store.Pull(tx, what, store.PullRequest{Key: c.key, Limit: 1, Lease: time.Minute}))
		})
		s.refused("acknowledging", want, func(tx store.Tx) error { return store.AckDeliveries(tx, c.key, what, ids[:1]) })
	}
	s.Write(removeEndpoint(acme, "whe_p"))
	again := s.newConsumerAgain("whe_p", c.key)
	s.refused("acknowledging what the one before had", store.CodeBadRequest, func(tx store.Tx) error { return store.AckDeliveries(tx, c.key, "whe_p", ids[:1]) })
	s.Equal("pulled", again.pull(9), []string{})
	s.sweep(day)
	for _, id := range ids {
		s.Equal("is there "+id, s.isThere(id), false)
	}
	s.Read(func(tx store.Tx) error {
		p, err := tx.LastPulled(c.endpoint.Number)
		s.Equal("last pulled", p.At, time.Time{})
		return err
	})
	s.Equal("removed", s.Removed(), []uint64{})
}

// newConsumerAgain is newConsumer with a key that is there.
func (s *subject) newConsumerAgain(id string, key *store.APIKey) *consumer {
	c := &consumer{subject: s, key: key}
	s.Write(func(tx store.Tx) (err error) {
		c.endpoint, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: acme, ID: id, Events: []string{store.EventInstructionsChanged}})
		return err
	})
	return c
}
