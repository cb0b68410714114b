package storetest

import (
	"encoding/base64"
	"fmt"
	"time"

	"teamdata/store"
)

// secretOf makes a secret of n bytes that begin with mark.
func secretOf(mark byte, n int) string {
	b := make([]byte, n)
	b[0] = mark
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

func rotate(secret string, overlap time.Duration) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, ada, acme, "whe_1", secret, overlap)
		return err
	}
}

// signs holds the endpoint to the secrets that sign at a time.
func (s *subject) signs(what string, at time.Time, want ...string) {
	s.Helper()
	e := s.endpoint("whe_1")
	s.equal(what, e.Secrets(at), want)
}

func testRotation(s *subject) {
	first := s.seed().Secret
	second, third, fourth := secretOf(2, 24), secretOf(3, 64), secretOf(4, 32)
	now := s.clock.now()
	s.signs("before", now, first)

	added := s.newAudit(func() { s.update(rotate(second, 0)) })
	s.shows("the audit entry", added, `"action":"endpoint.secretRotated"`, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.signs("rotated at once", now, second)
	e := s.endpoint("whe_1")
	s.equal("what is kept of the old secret", fmt.Sprint(e.OldSecret, e.OldSecretUntil), fmt.Sprint("", time.Time{}))

	s.update(rotate(third, time.Hour))
	s.reopen()
	s.signs("with an overlap", now, third, second)
	s.signs("just before its end", now.Add(time.Hour-time.Millisecond), third, second)
	s.signs("at its end", now.Add(time.Hour), third)

	s.clock.move(time.Minute)
	s.update(rotate(fourth, store.MaxSecretOverlap))
	now = s.clock.now()
	s.signs("twice within an overlap", now, fourth, third)
	s.signs("just before the end of the longest", now.Add(7*24*time.Hour-time.Millisecond), fourth, third)
	s.signs("at the end of the longest", now.Add(7*24*time.Hour), fourth)
	s.update(rotate(first, 0))
	s.signs("at once, within an overlap", now, first)
	s.newSecretIsMade()
	s.refusedRotations()
}

func (s *subject) newSecretIsMade() {
	s.Helper()
	var e store.Endpoint
	before := s.endpoint("whe_1")
	s.update(func(tx store.Tx) (err error) {
		e, err = store.RotateSecret(tx, ada, acme, "whe_1", "", 0)
		return err
	})
	s.equal("the endpoint that is returned", e, s.endpoint("whe_1"))
	s.equal("the secret is another", e.Secret != before.Secret, true)
	b, err := base64.StdEncoding.DecodeString(e.Secret[len("whsec_"):])
	s.equal("bytes of a secret that is made", fmt.Sprint(len(b), err), "32 <nil>")
	before.Secret = e.Secret
	s.equal("all else of the endpoint", e, before)
}

func (s *subject) refusedRotations() {
	s.Helper()
	good := secretOf(9, 32)
	for what, rule := range map[string]func(store.Tx) error{
		"23 bytes":               rotate(secretOf(9, 23), 0),
		"65 bytes":               rotate(secretOf(9, 65), 0),
		"no prefix":              rotate(good[1:], 0),
		"no base64":              rotate("whsec_????", 0),
		"a negative overlap":     rotate(good, -time.Millisecond),
		"an overlap of too long": rotate(good, 7*24*time.Hour+time.Millisecond),
		"the same secret":        rotate(s.endpoint("whe_1").Secret, time.Hour),
	} {
		s.refused(what, store.CodeBadRequest, rule)
	}
	for what, where := range map[string]pair{"of another org": {other, "whe_1"}, "of none": {acme, "whe_none"}} {
		s.refused("the secret "+what, store.CodeNotFound, func(tx store.Tx) error {
			_, err := store.RotateSecret(tx, ada, where.a, where.b, good, 0)
			return err
		})
	}
}
