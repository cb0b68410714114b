package store_test

import (
	"slices"
	"testing"

	"teamdata/store"
)

// emitted emits an event of each type, and returns the types that whe_1 was sent.
func (s *subject) emitted(types ...string) (got []string) {
	s.Helper()
	for _, name := range types {
		for _, e := range s.after(func(tx store.Tx) error { return second(store.Emit(tx, acme, name, []byte("{}"))) }).events {
			got = append(got, e.Type)
		}
	}
	return got
}

func selecting(selections ...string) func(store.Tx) error {
	return changeEndpoint(acme, "whe_1", store.EndpointChange{Events: selections})
}

func TestSelections(t *testing.T) { onBoth(t, testSelections) }

func testSelections(s *subject) {
	s.Seed()
	own := []string{"member", "members.added", "a", "a.b", "a.b.c", "a.bb"}
	for _, name := range own {
		s.Write(register(store.EventType{Name: name}))
	}
	all := slices.Concat(store.BuiltInEventTypes, own)
	noSignals := slices.Concat(store.BuiltInEventTypes[:7], own)
	for _, test := range []struct{ selections, sent []string }{
		{[]string{"*"}, noSignals},
		{[]string{"a.b", "*", "a.*"}, noSignals}, // each is sent once
		{[]string{"*", "teamdata.*"}, all},
		{[]string{"teamdata.*"}, store.Signals},
		{[]string{"teamdata.apiKey.*"}, []string{"teamdata.apiKey.expiring", "teamdata.apiKey.ended"}},
		{[]string{"teamdata.delivery.failed", "a"}, []string{"teamdata.delivery.failed", "a"}},
		{[]string{"member.*"}, []string{"member.added", "member.changed", "member.removed"}},
		{[]string{"webhook.*", "member"}, []string{"webhook.test", "member"}},
		{[]string{"a.*"}, []string{"a.b", "a.b.c", "a.bb"}},
		{[]string{"a.b.*"}, []string{"a.b.c"}},
		{[]string{"a.b.*", "a"}, []string{"a", "a.b.c"}},
		{[]string{"a.b"}, []string{"a.b"}},
	} {
		s.Write(selecting(test.selections...))
		s.Equal("what is sent", s.emitted(all...), test.sent)
	}
	s.Equal("the groups of a.b.c", store.Groups("a.b.c"), []string{"a.*", "a.b.*"})
	s.Equal("the groups of a", len(store.Groups("a")), 0)
}

// A selection is resolved when an event happens: it selects types that are registered
// after it, and nothing of what happened before it.
func TestSelectionsOfLaterTypes(t *testing.T) { onBoth(t, testSelectionsOfLaterTypes) }

func testSelectionsOfLaterTypes(s *subject) {
	s.Seed()
	s.Write(register(store.EventType{Name: "invoice.paid"}))
	for _, selection := range []string{"invoice.*", "*"} {
		s.Write(selecting(store.EventMemberAdded))
		s.Equal("before it is selected", len(s.emitted("invoice.paid")), 0)
		s.Write(selecting(selection))
		s.Equal("what happened before", len(s.after(func(store.Tx) error { return nil }).events), 0)
		s.Write(register(store.EventType{Name: "invoice.sent"}))
		s.Equal("a type that is new", s.emitted("invoice.sent", "invoice.paid"), []string{"invoice.sent", "invoice.paid"})
		s.Write(removeType("invoice.sent"))
	}
}

func TestSelectionsThatAreRefused(t *testing.T) { onBoth(t, testSelectionsThatAreRefused) }

func testSelectionsThatAreRefused(s *subject) {
	s.Seed()
	s.Write(register(store.EventType{Name: "a.b"}))
	const (
		misplaced = ` has a * in the wrong place; a * stands alone, for all events, or ends a group, as member.* does`
		existing  = `; the event types are member.added, member.changed, member.removed, subscription.changed, file.uploaded, assistant.instructionsChanged, webhook.test, teamdata.endpoint.disabled, teamdata.endpoint.recovered, teamdata.delivery.failed, teamdata.apiKey.expiring, teamdata.apiKey.ended, teamdata.backup.failed, teamdata.certificate.expiring, and those that were registered`
	)
	for selection, want := range map[string]string{
		"member*": `"member*"` + misplaced, "*.added": `"*.added"` + misplaced, "**": `"**"` + misplaced, "*.*": `"*.*"` + misplaced,
		"member.**": `"member.**"` + misplaced, "member.*.*": `"member.*.*"` + misplaced, "mem*er.*": `"mem*er.*"` + misplaced, "a*": `"a*"` + misplaced,
		"memeber.*": `no event type begins with "memeber."` + existing, "Member.*": `no event type begins with "Member."` + existing,
		"a.b.*": `no event type begins with "a.b."` + existing, "member.added.*": `no event type begins with "member.added."` + existing,
		".*": `no event type begins with "."` + existing, "": `"" is not an event type` + existing, "a.": `"a." is not an event type` + existing,
		"member": `"member" is not an event type` + existing, "member.": `"member." is not an event type` + existing,
	} {
		for _, selections := range [][]string{{selection}, {"*", selection}} {
			s.refused(selection, store.CodeBadRequest, selecting(selections...))
			s.Equal("why", s.Attempt(selecting(selections...)).Error(), "events: "+want)
		}
	}
	s.Equal("twice", s.Attempt(selecting("*", "a.*", "*")).Error(), `events: "*" is given twice`)
}

// A type can be removed while other types are left for each endpoint that selects it.
func TestRemoveSelectedType(t *testing.T) { onBoth(t, testRemoveSelectedType) }

func testRemoveSelectedType(s *subject) {
	s.Seed()
	for _, name := range []string{"member.left", "invoice.paid", "invoice.line.added"} {
		s.Write(register(store.EventType{Name: name}))
	}
	s.Write(selecting("*", "member.*", "invoice.*", "invoice.line.*"))
	s.Write(removeType("member.left"))
	s.refused("the last of a group", store.CodeConflict, removeType("invoice.line.added"))
	s.Write(removeType("invoice.paid"))
	s.Equal("why", s.Attempt(removeType("invoice.line.added")).Error(),
		"The endpoint whe_1 of the org org_acme selects invoice.*, of which this is the last event type. Change the endpoint first.")
	s.Write(selecting("*", "invoice.line.added"))
	s.Equal("why", s.Attempt(removeType("invoice.line.added")).Error(),
		"The endpoint whe_1 of the org org_acme selects this event type. Change the endpoint first.")
	s.Write(selecting("*"))
	s.Write(removeType("invoice.line.added"))
	s.Equal("what was removed", s.emitted("file.uploaded"), []string{"file.uploaded"})
}
