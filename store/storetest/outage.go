package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

// outages are what may happen at an endpoint while a delivery is attempted in
// vain, six times from when it was sent. An attempt takes a second.
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
	{"another is attempted in vain", nil, func(s *subject, other string) { s.try(other, s.clock.now(), 500) }, true},
}

// acknowledge has a delivery acknowledged by an attempt that starts some time
// from now.
func acknowledge(from time.Duration) func(*subject, string) {
	return func(s *subject, id string) { s.try(id, s.clock.now().Add(from), 200) }
}

// testOutages: a delivery that used its last attempt disables its endpoint, if
// nothing was acknowledged there since its first.
func testOutages(s *subject) {
	s.seed()
	for i, outage := range outages {
		id := fmt.Sprintf("whe_%d", i+10)
		s.update(func(tx store.Tx) error {
			_, err := store.ImportEndpoint(tx, newEndpoint(acme, id))
			return err
		})
		ids := s.sendTests(id, 2)
		if outage.before != nil {
			outage.before(s, ids[1])
		}
		s.try(ids[0], s.clock.now(), 500)
		s.clock.move(time.Second)
		if outage.between != nil {
			outage.between(s, ids[1])
		}
		s.clock.move(time.Minute)
		s.equal(outage.name+": told that it is disabled", s.failAll(ids[0]), outage.disabled)
		e := s.endpoint(id)
		s.equal(outage.name+": is disabled", e.Disabled(), outage.disabled)
		s.equal(outage.name+": attempts", s.delivery(ids[0]).Attempts, 6)
	}
	s.outageElsewhere()
}

// outageElsewhere: what another endpoint acknowledges does not count.
func (s *subject) outageElsewhere() {
	s.Helper()
	s.update(func(tx store.Tx) error {
		_, err := store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
		return err
	})
	failing, good := s.sendTests("whe_2", 1)[0], s.sendTests("whe_1", 1)[0]
	s.try(failing, s.clock.now(), 500)
	s.try(good, s.clock.now(), 200)
	s.equal("disabled although another endpoint acknowledges", s.failAll(failing), true)
	first := s.endpoint("whe_1")
	s.equal("the other endpoint is disabled", first.Disabled(), false)
}

// testOutageTold: what is written when an endpoint is disabled, together with
// the outcome that did it.
func testOutageTold(s *subject) {
	s.seed()
	s.update(addPeople)
	id := s.sendTests("whe_1", 1)[0]
	for range 5 {
		s.try(id, s.clock.now(), 500)
		s.clock.move(s.delivery(id).DueAt.Sub(s.clock.now()))
	}
	before := s.dump(&everyName)
	err := s.Update(context.Background(), func(tx store.Tx) error {
		disabled, err := attempted(tx, id, tx.Now(), 500, store.DefaultRetrySchedule)
		s.equal("disabled in a transaction that is to fail", disabled, true)
		return errors.Join(err, errFailing)
	})
	s.equal("the transaction fails", errors.Is(err, errFailing), true)
	s.same("after it", s.dump(&everyName), before)

	at := s.clock.now()
	entry := s.newAudit(func() { s.try(id, at, 500) })
	s.equal("disabled at", s.endpoint("whe_1").DisabledAt, at)
	s.equal("the delivery", s.delivery(id).State, store.StateFailed)
	s.equal("the audit entries", actions(entry), []string{"endpoint.disabled"})
	s.shows("the audit entry", entry, `"actorId":null`, `"targetId":"whe_1"`)
	s.mailsTell(id, at)
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

// mailsTell holds the mails to those that tell of a failed delivery.
func (s *subject) mailsTell(id string, at time.Time) {
	s.Helper()
	mails := s.mails()
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
	s.equal("mails", mails, want)
	s.equal("the mails' ids differ", mails[0].ID < mails[1].ID, true)
}

// shows holds a text to some parts.
func (s *subject) shows(what, text string, parts ...string) {
	s.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			s.Errorf("%s is %s, and lacks %s", what, brief(text), part)
		}
	}
}
