package store_test

import (
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestOperatorTokenRules(t *testing.T) { onBoth(t, testOperatorTokenRules) }

func testOperatorTokenRules(s *subject) {
	s.Seed()
	var presented string
	until := s.Clock.Now().Add(time.Hour)
	create := func(name string, until time.Time) func(store.Tx) error {
		return func(tx store.Tx) error {
			o, secret, err := store.CreateOperatorToken(tx, name, until)
			presented = o.ID + "." + secret
			return err
		}
	}
	s.does("a token is made", create(longText, until), effects{})
	good := presented
	finds := func(what, presented string, want store.Code) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			o, err := store.FindOperatorToken(tx, presented)
			s.Code(what, err, want)
			s.Equal(what+": found", o.Name == longText, want == "")
			return nil
		})
	}
	id, secret, _ := strings.Cut(good, ".")
	finds("the token", good, "")
	for what, bad := range map[string]string{
		"nothing": "", "no period": id + secret, "no secret": id + ".", "no id": "." + secret, "a cut secret": good[:len(good)-1],
		"more": good + "x", "another id": "opr_none." + secret,
	} {
		finds(what, bad, store.CodeUnauthorized)
	}
	s.refused("no name", store.CodeBadRequest, create("", time.Time{}))
	s.refused("a long name", store.CodeBadRequest, create(tooLong(200), time.Time{}))
	s.refused("an expiry now", store.CodeBadRequest, create("x", s.Clock.Now()))
	s.Write(create("x", s.Clock.Now().Add(time.Millisecond)))
	s.refused("a token of that id", store.CodeConflict, func(tx store.Tx) error {
		return store.ImportOperatorToken(tx, store.OperatorToken{ID: id, Name: "x"})
	})
	revoke := func(id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.RevokeOperatorToken(tx, id) }
	}
	s.Clock.Move(time.Hour - time.Millisecond)
	finds("just before its end", good, "")
	s.Clock.Move(time.Millisecond)
	finds("at its end", good, store.CodeUnauthorized)
	s.Write(create(longText, time.Time{}))
	finds("one for ever", presented, "")
	id, _, _ = strings.Cut(presented, ".")
	s.does("it is revoked", revoke(id), effects{})
	finds("once it is revoked", presented, store.CodeUnauthorized)
	s.refused("revoking it again", store.CodeNotFound, revoke(id))
}
