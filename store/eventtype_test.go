package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestEventTypeRules(t *testing.T) { onBoth(t, testEventTypeRules) }

func testEventTypeRules(s *subject) {
	s.Seed()
	start := s.Clock.Now()
	longest := strings.Repeat("A", 64) + "." + strings.Repeat("_", 63)
	registered := func(what string, e, want store.EventType, isNew bool) {
		s.Helper()
		s.Write(func(tx store.Tx) error {
			got, created, err := store.RegisterEventType(tx, e)
			s.Equal(what, []any{got, created}, []any{want, isNew})
			return err
		})
		s.Read(func(tx store.Tx) error {
			got, err := tx.EventType(e.Name)
			s.Equal(what+", as kept", got, want)
			return err
		})
	}
	schema := []byte(`"` + strings.Repeat("x", 64<<10-2) + `"`)
	registered("a type", store.EventType{Name: longest}, store.EventType{Name: longest, CreatedAt: start}, true)
	s.Clock.Move(time.Hour)
	full := store.EventType{Name: longest, Description: strings.Repeat("é", 500), Schema: schema, CreatedAt: start}
	again := full
	again.CreatedAt = time.Time{}
	registered("its description and schema", again, full, false)
	again.CreatedAt = someTime
	registered("brought along with its time", again, again, false)
	s.changesNothing("the same", register(again))
	for what, bad := range map[string]store.EventType{
		"no name": {}, "a long name": {Name: longest + "x"}, "a part that is empty": {Name: "a..b"}, "a period at the end": {Name: "a."},
		"a period at the beginning": {Name: ".a"}, "a hyphen": {Name: "a-b"}, "a space": {Name: "a b"}, "é": {Name: "é"}, "no UTF-8": {Name: "a\xff"},
		"a built-in name": {Name: store.EventFileUploaded}, "a long description": {Name: "a", Description: tooLong(500)},
		"a large schema": {Name: "a", Schema: append(schema, ' ')}, "a schema that is no JSON": {Name: "a", Schema: []byte("{")},
		"an empty schema": {Name: "a", Schema: []byte{}},
	} {
		s.refused("a type with "+what, store.CodeBadRequest, register(bad))
	}
	s.does("a type is removed", removeType(longest), effects{})
	s.refused("no type", store.CodeNotFound, removeType(longest))
	s.refused("a type that is built in", store.CodeNotFound, removeType(store.EventFileUploaded))
}

// TestSelectedEventTypes has the last of many orgs select a type: more than are
// looked at together.
func TestSelectedEventTypes(t *testing.T) { onBoth(t, testSelectedEventTypes) }

func testSelectedEventTypes(s *subject) {
	s.Seed()
	last := fmt.Sprintf("many_%04d", many-1)
	s.Write(func(tx store.Tx) error {
		for i := range many {
			if err := tx.PutOrg(store.Org{ID: fmt.Sprintf("many_%04d", i)}); err != nil {
				return err
			}
		}
		return register(store.EventType{Name: "invoice.paid"})(tx)
	})
	types := func(names ...string) store.EndpointChange { return store.EndpointChange{Events: names} }
	s.Write(changeEndpoint(acme, "whe_1", types("invoice.paid", store.EventMemberAdded)))
	emit := func(tx store.Tx) error { return second(store.Emit(tx, acme, "invoice.paid", []byte(`{"n":1}`))) }
	s.does("what is selected", emit, effects{events: []sent{{"invoice.paid", map[string]any{"n": 1}}}})
	s.Write(changeEndpoint(acme, "whe_1", types(store.EventMemberAdded)))
	s.does("what is not selected", emit, effects{})

	e := newEndpoint(last, "whe_last")
	e.Events = []string{"invoice.paid"}
	s.Write(createEndpoint(e))
	s.refused("a type that an endpoint selects", store.CodeConflict, removeType("invoice.paid"))
	s.Write(removeEndpoint(last, "whe_last"))
	s.does("the type", removeType("invoice.paid"), effects{})
	s.refused("selecting it", store.CodeBadRequest, changeEndpoint(acme, "whe_1", types("invoice.paid")))
}

// An operator's type of older data whose name is that of a built-in one is listed no
// more, and can be removed while endpoints select the built-in one.
func TestEventTypeBuiltInSince(t *testing.T) { onBoth(t, testEventTypeBuiltInSince) }

func testEventTypeBuiltInSince(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error { return tx.PutEventType(store.EventType{Name: store.EventMemberChanged}) })
	s.Write(register(store.EventType{Name: "invoice.paid"}))
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Events: []string{store.EventMemberChanged}}))
	s.Read(func(tx store.Tx) error {
		own, err := store.OwnEventTypes(tx)
		s.Equal("the operator's own", len(own) == 1 && own[0].Name == "invoice.paid", true)
		return err
	})
	s.does("it is removed", removeType(store.EventMemberChanged), effects{})
	s.refused("it is there no more", store.CodeNotFound, removeType(store.EventMemberChanged))
}

func register(e store.EventType) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, e)
		return err
	}
}

func removeType(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemoveEventType(tx, name) }
}
