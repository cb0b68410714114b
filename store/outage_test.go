package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// TestOutageOnce: what fails at an endpoint that is disabled already disables it
// no second time.
func TestOutageOnce(t *testing.T) { onBoth(t, testOutageOnce) }

func testOutageOnce(s *subject) {
	s.Seed()
	s.Write(addPeople)
	ids := s.sendTests("whe_1", 2)
	for _, id := range ids {
		s.try(id, s.Clock.Now(), 500)
	}
	s.Equal("the first failure disables", s.failAll(ids[0]), true)
	at, mails := s.Endpoint("whe_1").DisabledAt, len(s.Mails())
	s.Clock.Move(time.Hour)
	added := s.newAudit(func() { s.Equal("the second disables again", s.failAll(ids[1]), false) })
	s.Equal("audit entries of the second", added, "")
	s.Equal("mails", len(s.Mails()), mails)
	s.Equal("disabled at", s.Endpoint("whe_1").DisabledAt, at)
	s.Equal("the second delivery", s.delivery(ids[1]).State, store.StateFailed)
}

// TestOutageAfterReplay: the rule counts from the first attempt since the
// replay.
func TestOutageAfterReplay(t *testing.T) { onBoth(t, testOutageAfterReplay) }

func testOutageAfterReplay(s *subject) {
	s.Seed()
	ids := s.sendTests("whe_1", 3)
	s.try(ids[0], s.Clock.Now(), 500)
	s.Clock.Move(time.Minute)
	s.try(ids[1], s.Clock.Now(), 200)
	s.Equal("disabled, with one acknowledged", s.failAll(ids[0]), false)

	s.Clock.Move(time.Hour)
	s.Write(replay(ids[0]))
	s.try(ids[0], s.Clock.Now(), 500)
	s.Clock.Move(time.Minute)
	s.try(ids[2], s.Clock.Now(), 200)
	s.Equal("disabled, with one acknowledged since the replay", s.failAll(ids[0]), false)

	s.Clock.Move(time.Hour)
	s.Write(replay(ids[0]))
	s.Equal("disabled, with none acknowledged since the replay", s.failAll(ids[0]), true)
	s.Equal("attempts since the replay", s.delivery(ids[0]).Attempts, 6)
	s.Equal("attempts kept", len(s.delivery(ids[0]).History), 18)
}

// outages are what may happen at an endpoint while a delivery fails
// six times from when it was sent. An attempt takes a second.
var outages = []struct {
	name     string
	before   func(s *subject, other string) // with another delivery to the same endpoint, before the first attempt
	between  func(s *subject, other string) // right after the first attempt
	disabled bool
}{
	{"nothing is ever acknowledged", nil, nil, true},
	{"another is acknowledged after the first attempt", nil, acknowledge(time.Second), false},
	{"another is acknowledged just after the first attempt began", nil, acknowledge(time.Millisecond - 2*time.Second), false},
	{"another is acknowledged in the millisecond in which the first attempt begins", acknowledge(-time.Second), nil, false},
	{"another was acknowledged a millisecond before the first attempt", acknowledge(-time.Second - time.Millisecond), nil, true},
	{"another was acknowledged long before", acknowledge(-time.Hour), nil, true},
	{"another fails", nil, func(s *subject, other string) { s.try(other, s.Clock.Now(), 500) }, true},
}

// acknowledge has a delivery acknowledged by an attempt that starts some time
// from now.
func acknowledge(from time.Duration) func(*subject, string) {
	return func(s *subject, id string) { s.try(id, s.Clock.Now().Add(from), 200) }
}

// TestOutages: a delivery that used its last attempt disables its endpoint, if
// nothing was acknowledged there since its first.
func TestOutages(t *testing.T) { onBoth(t, testOutages) }

func testOutages(s *subject) {
	s.Seed()
	for i, outage := range outages {
		id := fmt.Sprintf("whe_%d", i+10)
		s.Write(func(tx store.Tx) error {
			_, err := store.ImportEndpoint(tx, newEndpoint(acme, id))
			return err
		})
		ids := s.sendTests(id, 2)
		if outage.before != nil {
			outage.before(s, ids[1])
		}
		s.try(ids[0], s.Clock.Now(), 500)
		s.Clock.Move(time.Second)
		if outage.between != nil {
			outage.between(s, ids[1])
		}
		s.Clock.Move(time.Minute)
		s.Equal(outage.name+": told that it is disabled", s.failAll(ids[0]), outage.disabled)
		e := s.Endpoint(id)
		s.Equal(outage.name+": is disabled", e.Disabled(), outage.disabled)
		s.Equal(outage.name+": attempts", s.delivery(ids[0]).Attempts, 6)
	}
	s.outageElsewhere()
}

// outageElsewhere: what another endpoint acknowledges does not count.
func (s *subject) outageElsewhere() {
	s.Helper()
	s.Write(func(tx store.Tx) error {
		_, err := store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
		return err
	})
	failing, good := s.sendTests("whe_2", 1)[0], s.sendTests("whe_1", 1)[0]
	s.try(failing, s.Clock.Now(), 500)
	s.try(good, s.Clock.Now(), 200)
	s.Equal("disabled although another endpoint acknowledges", s.failAll(failing), true)
	first := s.Endpoint("whe_1")
	s.Equal("the other endpoint is disabled", first.Disabled(), false)
}

// TestOutageTold: what is written when an endpoint is disabled, together with
// the outcome that did it.
func TestOutageTold(t *testing.T) { onBoth(t, testOutageTold) }

func testOutageTold(s *subject) {
	s.Seed()
	s.Write(addPeople)
	id := s.sendTests("whe_1", 1)[0]
	for range 5 {
		s.try(id, s.Clock.Now(), 500)
		s.Clock.Move(s.delivery(id).DueAt.Sub(s.Clock.Now()))
	}
	before := s.Dump()
	err := s.Update(context.Background(), store.All, func(tx store.Tx) error {
		disabled, err := attempted(tx, id, tx.Now(), 500, store.DefaultRetrySchedule)
		s.Equal("disabled in a transaction that is to fail", disabled, true)
		return errors.Join(err, errFailing)
	})
	s.Equal("the transaction fails", errors.Is(err, errFailing), true)
	s.Same("after it", s.Dump(), before)

	at := s.Clock.Now()
	entry := s.newAudit(func() { s.try(id, at, 500) })
	s.Equal("disabled at", s.Endpoint("whe_1").DisabledAt, at)
	s.Equal("the delivery", s.delivery(id).State, store.StateFailed)
	s.Equal("the audit entries", actions(entry), []string{"endpoint.disabled"})
	s.shows("the audit entry", entry, `"actorId":null`, `"targetId":"whe_1"`)
	s.mailsTell(id, at)
}

// mailsTell holds the mails to those that tell of a failed delivery.
func (s *subject) mailsTell(id string, at time.Time) {
	s.Helper()
	mails := s.Mails()
	values := map[string]string{
		"orgName": acme, "endpointId": "whe_1", "endpointUrl": "https://example.com/whe_1", "deliveryId": id,
		"eventType": "webhook.test", "attempts": "6", "lastAttemptAt": store.FormatTime(at), "lastReason": "not 2xx",
	}
	want := []store.Mail{{To: "ada@acme.example", Name: "Ada"}, {To: "bob@acme.example", Name: "Bob"}}
	for i := range want {
		want[i].OrgID, want[i].Template, want[i].Values, want[i].CreatedAt, want[i].DueAt = acme, "endpointDisabled", values, at, at
		if i < len(mails) {
			want[i].ID = mails[i].ID
		}
	}
	s.Equal("mails", mails, want)
	s.Equal("the mails' ids differ", mails[0].ID < mails[1].ID, true)
}

// addPeople adds to acme those who get its mail and those who don't.
func addPeople(tx store.Tx) error {
	var errs []error
	for _, m := range []store.Member{
		{OrgID: acme, UserID: "usr_2", Role: store.RoleAdmin, Name: "Bob", Email: "bob@acme.example"},
		{OrgID: acme, UserID: "usr_1", Role: store.RoleOwner, Name: "Ada", Email: "ada@acme.example"},
		{OrgID: acme, UserID: "usr_3", Role: store.RoleAdmin, Name: "without an address"},
		{OrgID: acme, UserID: "usr_4", Role: store.RoleMember, Email: "member@acme.example"},
		{OrgID: acme, UserID: "usr_5", Role: "guest", Email: "guest@acme.example"},
		{OrgID: other, UserID: "usr_6", Role: store.RoleOwner, Email: "owner@other.example"},
	} {
		_, err := store.ImportMember(tx, m)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
