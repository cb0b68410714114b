package storetest

import (
	"strings"

	"teamdata/store"
)

func testEventTypes(s *Subject) {
	types := []store.EventType{
		{Name: "b"},
		{Name: strings.Repeat("Az09_", 25) + ".zz", Description: longText + longText, Schema: []byte(`{"é":"` + strings.Repeat("x", 64<<10) + `"}`), CreatedAt: lastMs},
		{Name: "a.b", Description: unicode, Schema: []byte("true"), CreatedAt: firstMs},
	}
	roundTrip(s, types, store.Tx.PutEventType, func(tx store.Tx, e store.EventType) (store.EventType, error) { return tx.EventType(e.Name) })
	list := func(what string, want ...store.EventType) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			got, err := tx.EventTypes()
			s.Equal(what, got, want)
			return err
		})
	}
	list("the types", types[1], types[2], types[0])
	types[2].Schema = nil
	s.Write(func(tx store.Tx) error { return tx.PutEventType(types[2]) })
	s.Write(func(tx store.Tx) error { return tx.DeleteEventType("b") })
	list("one changed, and one dropped", types[1], types[2])
}

func testOperatorTokens(s *Subject) {
	tokens := []store.OperatorToken{
		{ID: "o"},
		{ID: longID, Name: longText, SecretHash: store.HashSecret("s"), CreatedAt: firstMs, ExpiresAt: lastMs},
		{ID: "O", Name: unicode, SecretHash: store.HashSecret("t"), CreatedAt: someTime},
	}
	roundTrip(s, tokens, store.Tx.PutOperatorToken, func(tx store.Tx, o store.OperatorToken) (store.OperatorToken, error) { return tx.OperatorToken(o.ID) })
	list := func(what string, want ...store.OperatorToken) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			got, err := tx.OperatorTokens()
			s.Equal(what, got, want)
			return err
		})
	}
	list("the tokens", tokens[1], tokens[2], tokens[0])
	tokens[2].ExpiresAt = lastMs
	s.Write(func(tx store.Tx) error { return tx.PutOperatorToken(tokens[2]) })
	s.Write(func(tx store.Tx) error { return tx.DeleteOperatorToken("o") })
	list("one changed, and one dropped", tokens[1], tokens[2])
}
