package storetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

func createEndpoint(e store.Endpoint) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.CreateEndpoint(tx, ada, e)) }
}

func removeEndpoint(org, id string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, org, id) }
}

func testCreateEndpoint(s *subject) {
	s.seed()
	s.does("an endpoint is made", createEndpoint(newEndpoint(acme, "whe_2")), effects{actions: []string{"endpoint.created whe_2"}})
	e := s.endpoint("whe_2")
	s.equal("made at", e.CreatedAt, s.clock.now())
	s.refused("an endpoint of that id", store.CodeConflict, createEndpoint(e))
	s.update(createEndpoint(newEndpoint(other, "whe_2")))
	s.equal("another org's of that id has another number", s.endpoint("whe_2").Number, e.Number)
	s.refused("an endpoint of no org", store.CodeNotFound, createEndpoint(newEndpoint("org_none", "whe_3")))
	for what, spoil := range map[string]func(*store.Endpoint){
		"no id":              func(e *store.Endpoint) { e.ID = "whe.3" },
		"a long URL":         func(e *store.Endpoint) { e.URL = "https://example.com/" + strings.Repeat("x", 2029) },
		"http":               func(e *store.Endpoint) { e.URL = "http://example.com/" },
		"a long description": func(e *store.Endpoint) { e.Description = tooLong(500) },
		"a short secret":     func(e *store.Endpoint) { e.Secret = secretOf(1, 23) },
		"no event type":      func(e *store.Endpoint) { e.Events = nil },
		"an unknown type":    func(e *store.Endpoint) { e.Events = []string{"invoice.paid"} },
		"a type twice":       func(e *store.Endpoint) { e.Events = []string{"webhook.test", "member.added", "webhook.test"} },
	} {
		bad := newEndpoint(acme, "whe_3")
		spoil(&bad)
		s.refused("an endpoint with "+what, store.CodeBadRequest, createEndpoint(bad))
	}
	for i := 3; i <= store.MaxEndpoints; i++ {
		s.update(createEndpoint(newEndpoint(acme, fmt.Sprint("whe_", i))))
	}
	s.refused("an endpoint too many", store.CodeConflict, createEndpoint(newEndpoint(acme, "whe_51")))
	s.update(removeEndpoint(acme, "whe_3"))
	s.update(createEndpoint(newEndpoint(acme, "whe_51")))
	s.refused("an endpoint too many again", store.CodeConflict, createEndpoint(newEndpoint(acme, "whe_52")))
}

func changeEndpoint(org, id string, c store.EndpointChange) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.ChangeEndpoint(tx, ada, org, id, c)) }
}

func testChangeEndpoint(s *subject) {
	endpoint := s.seed()
	s.update(createEndpoint(newEndpoint(other, "whe_1")))
	id := s.sendTests("whe_1", 1)[0]
	text := func(t string) *string { return &t }
	changed := effects{actions: []string{"endpoint.changed whe_1"}}
	longest := "https://example.com/" + strings.Repeat("x", 2028)
	s.update(changeEndpoint(acme, "whe_1", store.EndpointChange{URL: text(longest)}))
	claims, err := s.Claim(context.Background(), endpoint.Number, s.clock.now(), 10)
	s.code("claim", err, "")
	s.equal("what waits goes to the new address", []any{deliveryIDs(claims), claims.Endpoint.URL}, []any{[]string{id}, longest})

	s.does("another description", changeEndpoint(acme, "whe_1", store.EndpointChange{Description: text(strings.Repeat("é", 500))}), changed)
	s.does("other types", changeEndpoint(acme, "whe_1", store.EndpointChange{Events: []string{store.EventMemberAdded}}), changed)
	s.does("what is not selected", uploadFile("fil_1"), one("file.uploaded fil_1"))
	s.changesNothing("nothing given", changeEndpoint(acme, "whe_1", store.EndpointChange{}))
	s.changesNothing("the same", changeEndpoint(acme, "whe_1", store.EndpointChange{URL: text(longest), Events: []string{store.EventMemberAdded}}))
	for what, bad := range map[string]store.EndpointChange{
		"no URL": {URL: text("")}, "a long URL": {URL: text(longest + "x")}, "a long description": {Description: text(tooLong(500))},
		"no type": {Events: []string{}}, "an unknown type": {Events: []string{"none"}},
	} {
		s.refused(what, store.CodeBadRequest, changeEndpoint(acme, "whe_1", bad))
	}
	s.refused("no endpoint", store.CodeNotFound, changeEndpoint(acme, "whe_none", store.EndpointChange{}))
	s.refused("the endpoint of no org", store.CodeNotFound, changeEndpoint("org_none", "whe_1", store.EndpointChange{}))

	s.update(switchEndpoint(acme, "whe_1", false))
	s.update(changeEndpoint(acme, "whe_1", store.EndpointChange{URL: text("https://example.com/2")}))
	s.equal("changed while it is disabled, it stays so", s.eachDue(), map[uint64]time.Time{})
	want := endpoint
	want.URL, want.Description, want.Events, want.DisabledAt = "https://example.com/2", strings.Repeat("é", 500), []string{store.EventMemberAdded}, s.clock.now()
	s.equal("the endpoint", s.endpoint("whe_1"), want)
}
