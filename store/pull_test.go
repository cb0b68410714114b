package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// consumer pulls from an endpoint of acme.
type consumer struct {
	*subject
	key      *store.APIKey
	endpoint store.Endpoint
}

// newConsumer makes an endpoint that is pulled, which selects nothing that a test does, and
// a key for all such endpoints.
func (s *subject) newConsumer(id string) *consumer {
	s.Helper()
	c := &consumer{subject: s}
	s.Write(func(tx store.Tx) (err error) {
		if c.endpoint, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: acme, ID: id, Events: []string{store.EventInstructionsChanged}}); err != nil {
			return err
		}
		key, err := store.ImportKey(tx, store.APIKey{ID: "key_" + id, OrgID: acme, Scopes: store.ScopeReceive, CreatedBy: ada})
		c.key = &key
		return err
	})
	return c
}

// inOrg runs a rule about deliveries as an API does, in the scope that it has there.
func (c *consumer) inOrg(rule func(store.Tx) error, deliveries ...string) error {
	return c.Update(context.Background(), store.Scope{Orgs: []string{acme}, Deliveries: deliveries}, rule)
}

// pullFor acknowledges deliveries, and pulls others.
func (c *consumer) pullFor(lease time.Duration, limit int, acked ...string) (claims []store.Claim) {
	c.Helper()
	err := c.inOrg(func(tx store.Tx) error {
		got, err := store.Pull(tx, c.endpoint.ID, store.PullRequest{Key: c.key, Ack: acked, Limit: limit, Lease: lease})
		claims = got.Claims
		return err
	}, acked...)
	c.Code("a pull", err, "")
	return claims
}

// pull pulls deliveries, and returns their ids in the order in which they came.
func (c *consumer) pull(limit int, acked ...string) (ids []string) {
	c.Helper()
	for _, claim := range c.pullFor(time.Minute, limit, acked...) {
		ids = append(ids, claim.Delivery.ID)
	}
	return ids
}

func (c *consumer) ack(ids ...string) error {
	return c.inOrg(func(tx store.Tx) error { return store.AckDeliveries(tx, c.key, c.endpoint.ID, ids) }, ids...)
}

// leases names deliveries with the leases that they are in.
func (c *consumer) leases(ids ...string) (of []store.LeaseOf) {
	for _, id := range ids {
		d := c.delivery(id)
		of = append(of, store.LeaseOf{DeliveryID: id, Lease: d.Lease().ID})
	}
	return of
}

func (c *consumer) nack(delay *time.Duration, of ...store.LeaseOf) error {
	return c.inOrg(c.nacks(delay, of...))
}

func (c *consumer) nacks(delay *time.Duration, of ...store.LeaseOf) func(store.Tx) error {
	return func(tx store.Tx) error {
		return store.NackDeliveries(tx, c.key, c.endpoint.ID, of, "no room", delay, store.DefaultRetrySchedule)
	}
}

// due is from when on a pull finds something.
func (c *consumer) due() (at time.Time) {
	c.Helper()
	c.Read(func(tx store.Tx) (err error) {
		at, err = tx.PullDue(c.endpoint.Number)
		return err
	})
	return at
}

// TestPullOrder: deliveries come in the order of their commits, also those of one
// millisecond, and those that were made after the clock was set back, at once.
func TestPullOrder(t *testing.T) { onBoth(t, testPullOrder) }

func testPullOrder(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	s.Equal("due before any", c.due(), time.Time{})
	s.Equal("pulled before any", c.pull(9), []string{})
	var sent, got []string
	for _, step := range []time.Duration{0, 0, time.Millisecond, -time.Millisecond, time.Hour, -3 * time.Hour, 0, -400 * day, time.Second} {
		s.Clock.Move(step)
		sent = append(sent, s.sendTests("whe_p", 3)...)
		s.Equal("due at once", c.due().After(s.Clock.Now()), false)
	}
	for len(got) < len(sent) && !s.Failed() {
		some := c.pull(4)
		s.Equal("of four", len(some), min(4, len(sent)-len(got)))
		got = append(got, some...)
	}
	s.Equal("pulled", got, sent)
	s.Equal("pulled when all are leased", c.pull(9), []string{})
	s.Equal("due when all are leased", c.due(), s.Clock.Now().Add(time.Minute))
	s.Code("acknowledging all", c.ack(got...), "")
	s.Equal("due when all are acknowledged", c.due(), time.Time{})
	s.Equal("acknowledged", len(s.Listed(c.endpoint.Number, store.ListAcknowledged)), len(sent))
}

// TestPullPage: a pull has up to its limit, and up to a MiB of bodies, but one delivery at
// least. Each body is as it was made, also where it stands with its delivery.
func TestPullPage(t *testing.T) { onBoth(t, testPullPage) }

func testPullPage(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	for _, r := range []store.PullRequest{{Limit: 0, Lease: time.Minute}, {Limit: 101, Lease: time.Minute}, {Limit: 1, Lease: 5*time.Second - 1}, {Limit: 1, Lease: time.Hour + 1}} {
		r.Key = c.key
		s.refused(fmt.Sprintf("a pull of %d for %v", r.Limit, r.Lease), store.CodeBadRequest, func(tx store.Tx) error { return second(store.Pull(tx, "whe_p", r)) })
	}
	size := func(n int) (id string) {
		s.Write(func(tx store.Tx) error {
			data := append(append([]byte(`{"text":"`), bytes.Repeat([]byte("x"), n)...), `"}`...)
			d, err := store.SendExample(tx, acme, "whe_p", store.EventMemberAdded, data)
			id = d.ID
			return err
		})
		return id
	}
	const half = 512<<10 - 300
	want := [][]string{{size(half), size(half)}, {size(half), size(1)}, {size(3 << 20)}, {size(0), size(half), size(0)}}
	s.Clock.Move(time.Second)
	for i, page := range want {
		claims := c.pullFor(time.Minute, 100)
		var ids []string
		for _, claim := range claims {
			ids = append(ids, claim.Delivery.ID)
			e := s.eventOf(claim.Delivery)
			s.Equal("body", string(claim.Body), string(e.Body))
			l := claim.Delivery.Lease()
			s.Equal("the lease", []any{claim.Delivery.State, l.KeyID, l.GrantedAt, l.EndsAt}, []any{store.StateLeased, c.key.ID, s.Clock.Now(), s.Clock.Now().Add(time.Minute)})
			s.Equal("one lease for all", l.ID, claims[0].Delivery.Lease().ID)
			s.Equal("the delivery in the store", s.delivery(claim.Delivery.ID), claim.Delivery)
		}
		if i == 1 {
			page = append(page[:2:2], []string{}...) // the next has no room
		}
		s.Equal(fmt.Sprint("page ", i), ids, page)
	}
	s.Equal("no more", c.pull(100), []string{})
	many := s.sendTests("whe_p", 102)
	s.Equal("at most 100", c.pull(100), many[:100])
	s.Equal("by one", c.pull(1), many[100:101])
}

// eventOf is the event of a delivery.
func (s *subject) eventOf(d store.Delivery) (e store.Event) {
	s.Read(func(tx store.Tx) (err error) {
		e, err = tx.Event(d.EventID)
		return err
	})
	return e
}

// TestPullsRefused: who may not pull gets the error that says why, and nothing changes.
func TestPullsRefused(t *testing.T) { onBoth(t, testPullsRefused) }

func testPullsRefused(s *subject) {
	s.Seed()
	c, apart := s.newConsumer("whe_p"), s.newConsumer("whe_apart")
	id := s.sendTests("whe_p", 1)[0]
	foreign := s.sendTests("whe_apart", 1)[0]
	pushed := s.sendTests("whe_1", 1)[0]
	narrow, stranger := *c.key, *c.key
	narrow.Endpoints, stranger.OrgID = []string{"whe_apart"}, other
	for _, r := range []struct {
		what     string
		key      *store.APIKey
		endpoint string
		id       string
		want     store.Code
	}{
		{"an unknown endpoint", c.key, "whe_none", id, store.CodeNotFound},
		{"another org's key", &stranger, "whe_p", id, store.CodeNotFound},
		{"a key of another endpoint", &narrow, "whe_p", id, store.CodeForbidden},
		{"an endpoint that is sent to", c.key, "whe_1", pushed, store.CodeConflict},
		{"a delivery that is sent", c.key, "whe_p", pushed, store.CodeBadRequest},
		{"a delivery of another endpoint", c.key, "whe_p", foreign, store.CodeBadRequest},
		{"an unknown delivery", c.key, "whe_p", "whd_none", store.CodeBadRequest},
	} {
		with := []string{id, r.id}
		of := []store.LeaseOf{{DeliveryID: r.id, Lease: "lse_x"}}
		for what, rule := range map[string]func(store.Tx) error{
			"pull": func(tx store.Tx) error {
				return second(store.Pull(tx, r.endpoint, store.PullRequest{Key: r.key, Ack: with, Limit: 9, Lease: time.Minute}))
			},
			"ack":    func(tx store.Tx) error { return store.AckDeliveries(tx, r.key, r.endpoint, with) },
			"nack":   func(tx store.Tx) error { return store.NackDeliveries(tx, r.key, r.endpoint, of, "", nil, nil) },
			"extend": func(tx store.Tx) error { return second(store.ExtendLeases(tx, r.key, r.endpoint, of, time.Minute)) },
		} {
			s.refused(what+": "+r.what, r.want, rule)
			err := s.Update(context.Background(), store.InOrg(r.key.OrgID), rule)
			s.Equal(what+": "+r.what+" names the delivery", strings.Contains(fmt.Sprint(err), r.id), r.want == store.CodeBadRequest)
		}
	}
	s.Equal("still there to be pulled", c.pull(9), []string{id})
	s.Equal("at the other one", apart.pull(9), []string{foreign})
}

// TestPullDisabled: a disabled endpoint hands out nothing, and what was handed out can be
// acknowledged and given back.
func TestPullDisabled(t *testing.T) { onBoth(t, testPullDisabled) }

func testPullDisabled(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 3)
	s.Equal("pulled", c.pull(2), ids[:2])
	s.Write(switchEndpoint(acme, "whe_p", false))
	s.refused("a pull", store.CodeConflict, func(tx store.Tx) error {
		return second(store.Pull(tx, "whe_p", store.PullRequest{Key: c.key, Limit: 1, Lease: time.Minute}))
	})
	s.Code("acknowledging", c.ack(ids[0]), "")
	s.Clock.Move(time.Millisecond)
	now := time.Duration(0)
	s.Code("giving back", c.nack(&now, c.leases(ids[1])...), "")
	e := s.Endpoint("whe_p")
	for i, want := range []store.DeliveryState{store.StateAcknowledged, store.StateHeld, store.StateHeld} {
		d := s.delivery(ids[i])
		s.Equal("state", d.StateAt(&e), want)
	}
	s.Write(switchEndpoint(acme, "whe_p", true))
	s.Equal("enabled", c.pull(9), []string{ids[2], ids[1]})
}

// TestLeaseEnds: a delivery whose lease ended has its old place again, with the reason, and
// has used up nothing. The sweep shows it, a pull hands it out without that.
func TestLeaseEnds(t *testing.T) { onBoth(t, testLeaseEnds) }

func testLeaseEnds(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 5)
	s.Equal("pulled", c.pull(3), ids[:3])
	before := s.delivery(ids[0])
	s.Clock.Move(time.Minute - time.Millisecond)
	s.Equal("just before", c.pull(1), ids[3:4])
	s.Code("acknowledging one", c.ack(ids[1]), "")
	s.sweep(day)
	s.Equal("a sweep before", s.delivery(ids[0]), before)
	s.Clock.Move(time.Millisecond)
	s.Equal("due", c.due().After(s.Clock.Now()), false)
	s.sweep(day)
	d := s.delivery(ids[0])
	s.Equal("state", []any{d.State, d.Attempts, d.FirstAttemptAt, d.DueAt, len(d.Leases)}, []any{store.StateRetrying, 0, time.Time{}, before.DueAt, 0})
	s.Equal("history", d.History, []store.Attempt{{
		StartedAt: before.Lease().GrantedAt, EndedAt: before.Lease().EndsAt, TimedOut: true,
		Reason: "the lease ended without an acknowledgment", NextAt: before.DueAt, KeyID: c.key.ID,
	}})
	s.Equal("at its place", c.pull(9), []string{ids[0], ids[2], ids[4]})
	s.Clock.Move(time.Hour)
	s.Equal("again, without a sweep", c.pull(9), []string{ids[0], ids[2], ids[3], ids[4]})
	s.Equal("what is kept of it", len(s.delivery(ids[0]).History), 2)
	s.Equal("attempts", s.delivery(ids[0]).Attempts, 0)
	for range 40 {
		s.Clock.Move(time.Minute)
		c.pull(9)
	}
	s.Equal("history of many", len(s.delivery(ids[0]).History), store.MaxHistory)
	s.Equal("attempts of many", s.delivery(ids[0]).Attempts, 0)
}

// TestNoRoomForEnded: those whose leases have ended wait at their places if there is no room
// for them.
func TestNoRoomForEnded(t *testing.T) { onBoth(t, testNoRoomForEnded) }

func testNoRoomForEnded(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 6)
	s.Equal("pulled", c.pull(5), ids[:5])
	s.Clock.Move(time.Hour)
	s.Equal("two of them", c.pull(2), ids[:2])
	s.Equal("waiting", s.Listed(c.endpoint.Number, store.ListWaiting), ids[2:])
	s.Equal("the others, one acknowledged with the pull", c.pull(9, ids[2], ids[5]), ids[3:5])
}

// TestPullAfterTheClockWasSetBack: leases that would last beyond any that is granted have
// ended, and what was given back does not wait for the clock to catch up.
func TestPullAfterTheClockWasSetBack(t *testing.T) { onBoth(t, testPullAfterTheClockWasSetBack) }

func testPullAfterTheClockWasSetBack(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 4)
	s.Equal("pulled", c.pull(3), ids[:3])
	later := store.MaxNackDelay
	s.Code("giving back", c.nack(&later, c.leases(ids[0])...), "")
	s.Clock.Move(-time.Minute)
	s.Equal("a lease is a minute longer", c.pull(1), ids[3:])
	s.Clock.Move(-time.Hour)
	s.Equal("due", c.due(), s.Clock.Now())
	s.Equal("ended", c.pull(9), ids[1:3]) // that of ids[3] lasts for an hour and a minute from now
	s.Code("acknowledging", c.ack(ids[1:]...), "")

	s.Clock.Move(-400 * day)
	s.Equal("given back for a day", c.pull(9), []string{})
	n, err := store.PullIn(context.Background(), s, s.Clock.Now(), store.DefaultRetrySchedule)
	s.Code("pulling in", err, "")
	s.Equal("deliveries that are due earlier", n, 1)
	s.Equal("due", c.due(), s.Clock.Now().Add(store.DefaultRetrySchedule[0]))
	s.Clock.Move(store.DefaultRetrySchedule[0])
	s.Equal("given back", c.pull(9), ids[:1])
}

// TestPulledOnesAreFound: lists, filters and numbers tell of what waits and what is leased.
func TestPulledOnesAreFound(t *testing.T) { onBoth(t, testPulledOnesAreFound) }

func testPulledOnesAreFound(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 4)
	s.sendTests("whe_1", 1)
	began := s.Clock.Now()
	s.Clock.Move(time.Second)
	s.Equal("pulled", c.pull(2), ids[:2])
	later := time.Hour
	s.Code("giving back", c.nack(&later, c.leases(ids[1])...), "")
	s.Clock.Move(time.Second)
	for state, want := range map[string][]string{
		"": ids, "leased": ids[:1], "pending": ids[2:], "retrying": ids[1:2], "waiting": ids[1:], "acknowledged": nil,
	} {
		var found []string
		s.Read(func(tx store.Tx) error {
			w, err := store.WalkDeliveries(tx, acme, store.DeliveryFilter{Endpoint: "whe_p", State: state})
			if err != nil {
				return err
			}
			all, err := w.Read(tx, store.Cursor{}, 100)
			for _, d := range all {
				if w.Matches(d) {
					found = append(found, d.ID)
				}
			}
			return err
		})
		slices.Sort(found)
		s.Equal("those that are "+state, found, want)
	}
	s.Read(func(tx store.Tx) error {
		w, err := tx.CountWaiting(c.endpoint, 100)
		s.Equal("waiting", w, store.Waiting{Pull: 3})
		b, errBacklog := tx.Backlog(context.Background())
		s.Equal("backlog", []any{b.Due, b.Later, b.Pull, b.Busy, b.PullAt}, []any{1, 0, 3, 1, began})
		s.Equal("endpoints to send to", len(s.Due()), 1)
		return cmpOr(err, errBacklog)
	})
	s.Equal("claimed by a dispatcher", s.claimOf(c.endpoint.Number), []string{})
}

func cmpOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestPullAllLeft: more than are looked at at once were leased and left, and all come again,
// each once.
func TestPullAllLeft(t *testing.T) { onBoth(t, testPullAllLeft) }

func testPullAllLeft(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	var ids []string
	for range 13 {
		ids = append(ids, s.sendTests("whe_p", 100)...)
		c.pull(100)
	}
	s.Clock.Move(time.Hour)
	var got []string
	for range 13 {
		got = append(got, c.pull(100)...)
	}
	s.Equal("all once", slices.Compact(slices.Sorted(slices.Values(got))), ids)
	s.Equal("in order, as far as they are looked at", got[:1000], ids[:1000])
	s.Equal("no more", c.pull(100), []string{})
	s.Clock.Move(time.Hour)
	s.sweep(day)
	s.sweep(day)
	s.Equal("a sweep puts them back", len(s.Listed(c.endpoint.Number, store.ListWaiting)), len(ids))
}
